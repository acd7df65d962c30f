/**
 * Where an execution may go and where it had better go, as a workflow declares it: data that registration
 * reads from the source, stores in the version and never runs (AFF-7, RTE-7).
 */
import * as z from "zod";

/** A value of the execution's input, or of its routing input, by a dotted path. */
export const ValueRef = z.strictObject({
  kind: z.enum(["input", "routing_input"]),
  /** Own properties of objects, joined by dots; no index of a list. */
  path: z.string(),
});
export type ValueRef = z.infer<typeof ValueRef>;

export const Constant = z.union([z.string(), z.number(), z.boolean()]);
export type Constant = z.infer<typeof Constant>;

export const Operand = z.union([Constant, ValueRef]);
export type Operand = z.infer<typeof Operand>;

/** A label or a metadata key of a worker; the key may end in a value of the execution. */
export const AttributeSelector = z.union([
  z.strictObject({ kind: z.enum(["label", "meta"]), key: z.string() }),
  z.strictObject({ kind: z.enum(["label", "meta"]), prefix: z.string(), suffix: ValueRef }),
]);
export type AttributeSelector = z.infer<typeof AttributeSelector>;

export const RESOURCE_FIELDS = [
  "cpu_total",
  "cpu_available",
  "memory_total",
  "memory_available",
  "disk_total",
  "disk_free",
] as const;
export type ResourceField = (typeof RESOURCE_FIELDS)[number];

const ofWorker = [
  z.strictObject({ kind: z.literal("metric"), key: z.string() }),
  z.strictObject({ kind: z.literal("resource"), field: z.enum(RESOURCE_FIELDS) }),
  z.strictObject({ kind: z.enum(["load", "utilization"]) }),
] as const;

/** Something of a worker that a policy looks at (RTE-1). */
export const Selector = z.union([AttributeSelector, ...ofWorker]);
export type Selector = z.infer<typeof Selector>;

/** What `least` and `most` rank workers by: nothing whose key depends on the execution (RTE-2). */
export const RankedSelector = z.union([
  z.strictObject({ kind: z.enum(["label", "meta"]), key: z.string() }),
  ...ofWorker,
]);
export type RankedSelector = z.infer<typeof RankedSelector>;

const Equality = z.enum(["eq", "ne"]);
export const CompareOp = z.enum(["eq", "ne", "lt", "lte", "gt", "gte"]);
export type CompareOp = z.infer<typeof CompareOp>;

/** A term of `require()` that compares an attribute of a worker (AFF-3). */
export const MatchTerm = z.strictObject({
  kind: z.literal("match"),
  left: AttributeSelector,
  op: Equality,
  right: Operand,
  /** Skipped where the value that it reads is absent. */
  optional: z.literal(true).optional(),
});
export type MatchTerm = z.infer<typeof MatchTerm>;

/** Any comparison of something of a worker, as `label("a").eq("b")` and `metric("c").lt(3)` make them. */
export const Comparison = z.strictObject({
  kind: z.literal("match"),
  left: Selector,
  op: CompareOp,
  right: Operand,
});
export type Comparison = z.infer<typeof Comparison>;

/** A condition on the execution alone. */
export const InputCondition = z.strictObject({ left: ValueRef, op: Equality, right: Constant });
export type InputCondition = z.infer<typeof InputCondition>;

/** A term of `require()`. */
export const AffinityTerm = z.union([
  MatchTerm,
  // biome-ignore lint/suspicious/noThenProperty: the stored form has this name (AFF-7)
  z.strictObject({ kind: z.literal("when"), if: InputCondition, then: MatchTerm }),
]);
export type AffinityTerm = z.infer<typeof AffinityTerm>;

export const MOST_AFFINITY_TERMS = 64;

/** What a worker must be (AFF-7): a map of labels, or terms of which all hold. */
export const Affinity = z.union([
  z.record(z.string(), z.string()),
  z.array(AffinityTerm).min(1).max(MOST_AFFINITY_TERMS),
]);
export type Affinity = z.infer<typeof Affinity>;

const weight = z.number().positive();
const scoring = [
  z.strictObject({
    kind: z.literal("prefer"),
    left: Selector,
    op: CompareOp,
    right: Operand,
    weight,
  }),
  z.strictObject({ kind: z.enum(["least", "most"]), selector: RankedSelector, weight }),
  z.strictObject({ kind: z.literal("sticky"), weight }),
] as const;
export const PlainScoreTerm = z.union(scoring);
export type PlainScoreTerm = z.infer<typeof PlainScoreTerm>;

/** A condition on a worker: not on its labels and resources, which it could choose for itself (RTE-3). */
export const WorkerCondition = z.strictObject({
  left: z.union([
    z.strictObject({ kind: z.enum(["meta", "metric"]), key: z.string() }),
    z.strictObject({ kind: z.enum(["load", "utilization"]) }),
  ]),
  op: CompareOp,
  right: Constant,
});
export type WorkerCondition = z.infer<typeof WorkerCondition>;

export function isInputCondition(
  condition: InputCondition | WorkerCondition,
): condition is InputCondition {
  const { kind } = condition.left;
  return kind === "input" || kind === "routing_input";
}

/** A term of `score()`. */
export const ScoreTerm = z.union([
  ...scoring,
  z.strictObject({
    kind: z.literal("when"),
    if: z.union([InputCondition, WorkerCondition]),
    // biome-ignore lint/suspicious/noThenProperty: the stored form has this name (RTE-7)
    then: PlainScoreTerm,
  }),
]);
export type ScoreTerm = z.infer<typeof ScoreTerm>;

export const MOST_SCORE_TERMS = 32;

/** How the workers that may have an execution are ranked (RTE-7). */
export const RoutingPolicy = z.strictObject({
  terms: z.array(ScoreTerm).min(1).max(MOST_SCORE_TERMS),
});
export type RoutingPolicy = z.infer<typeof RoutingPolicy>;

/** How many executions of a workflow may be under way, or begin (FLW-1 to FLW-3). */
export const LimitDeclaration = z.union([
  z.strictObject({
    kind: z.literal("concurrency"),
    count: z.int().min(1).max(100_000),
    /** Each value has places of its own. */
    key: ValueRef.optional(),
    /** A place is kept from the first claim to the end, also while the execution waits. */
    hold_while_waiting: z.literal(true).optional(),
    /** A start that would wait is refused. */
    overflow: z.literal("reject").optional(),
  }),
  z.strictObject({
    kind: z.literal("rate"),
    count: z.int().min(1).max(100_000),
    period_ms: z.int().min(1_000).max(86_400_000),
    key: ValueRef.optional(),
  }),
  z.strictObject({ kind: z.literal("limit"), name: z.string(), key: ValueRef.optional() }),
]);
export type LimitDeclaration = z.infer<typeof LimitDeclaration>;

/** Whose turn it is among executions of one priority (FLW-6). */
export const FairnessDeclaration = z.strictObject({
  key: ValueRef,
  weight: z.int().min(1).max(100),
});
export type FairnessDeclaration = z.infer<typeof FairnessDeclaration>;
