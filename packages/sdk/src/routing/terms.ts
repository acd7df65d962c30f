import type { Constant, LimitDeclaration } from "@engine/contract";

/** Stands for values of the routing input among what a term reads; inputs stand there by their path. */
export interface OfRoutingInput {
  readonly "~of": "routing input";
}

/** What a term reads of the execution: carried by the types alone, never set. */
interface Reading<Reads> {
  readonly "~reads"?: Reads;
}

/** What anything of this module reads of the execution. */
export type ReadsOf<Part> = Part extends Reading<infer Reads> ? Exclude<Reads, undefined> : never;

/** A value of the execution: what {@link input} and {@link routingInput} return. */
export interface Ref<Reads = string | OfRoutingInput> extends Reading<Reads> {
  readonly kind: "input" | "routing_input";
  readonly path: string;
  /** A condition for {@link when}: whether the value is this one, compared as text. */
  eq(value: Constant): InputCondition<Reads>;
  /** A condition for {@link when}: whether there is a value, and it is another one. */
  ne(value: Constant): InputCondition<Reads>;
}

/** A condition on the execution alone. */
export interface InputCondition<Reads = unknown> extends Reading<Reads> {
  readonly left: { readonly kind: "input" | "routing_input"; readonly path: string };
  readonly op: "eq" | "ne";
}

/** Things of a worker that a term may look at. */
export type WorkerValue =
  | "label"
  | "labelFor"
  | "meta"
  | "metaFor"
  | "service"
  | "metric"
  | "resource"
  | "load"
  | "utilization";

/** Something of a worker, compared with a constant or a value of the execution. */
export interface Selector<Of extends WorkerValue = WorkerValue, Reads = unknown>
  extends Reading<Reads> {
  readonly kind: "label" | "meta" | "metric" | "resource" | "load" | "utilization";
  readonly "~of"?: Of;
  /** Equal, as text; two numbers as numbers. */
  eq<Value extends Constant | Ref>(
    value: Value,
  ): Comparison<Of, "equality", Reads | ReadsOfRef<Value>>;
  /** Another one, or none at all; in a policy a worker without one does not count. */
  ne<Value extends Constant | Ref>(
    value: Value,
  ): Comparison<Of, "equality", Reads | ReadsOfRef<Value>>;
  /** Less than; a policy only. */
  lt<Value extends Ordered>(value: Value): Comparison<Of, "order", Reads | ReadsOfRef<Value>>;
  /** Less than or equal; a policy only. */
  lte<Value extends Ordered>(value: Value): Comparison<Of, "order", Reads | ReadsOfRef<Value>>;
  /** Greater than; a policy only. */
  gt<Value extends Ordered>(value: Value): Comparison<Of, "order", Reads | ReadsOfRef<Value>>;
  /** Greater than or equal; a policy only. */
  gte<Value extends Ordered>(value: Value): Comparison<Of, "order", Reads | ReadsOfRef<Value>>;
}

type Ordered = number | `${number}` | Ref;
type ReadsOfRef<Value> = Value extends Ref<infer Reads> ? Reads : never;

/** What a comparison of something of a worker returns. */
export interface Comparison<
  Of extends WorkerValue = WorkerValue,
  Op extends "equality" | "order" = "equality" | "order",
  Reads = unknown,
> extends Reading<Reads> {
  readonly kind: "match";
  readonly "~of"?: Of;
  readonly "~op"?: Op;
}

/** A comparison that can be a term of {@link require}. */
export type MatchTerm<Reads = unknown> = Comparison<
  "label" | "labelFor" | "meta" | "metaFor" | "service",
  "equality",
  Reads
>;

/** What {@link optional} returns. */
export interface OptionalTerm<Reads = unknown> extends Reading<Reads> {
  readonly kind: "match";
  readonly "~of"?: "optional";
  readonly optional: true;
}

/** What {@link when} returns for a term of {@link require}. */
export interface WhenRequired<Reads = unknown> extends Reading<Reads> {
  readonly kind: "when";
  readonly "~in"?: "require";
}

/** A term of {@link require}. */
export type AffinityTerm<Reads = unknown> =
  | MatchTerm<Reads>
  | OptionalTerm<Reads>
  | WhenRequired<Reads>;

/** What {@link require} returns: the option `affinity` of a workflow. */
export interface Affinity<Reads = unknown> extends ReadonlyArray<AffinityTerm<Reads>> {
  /** Never set; says to the types what the terms read. */
  readonly "~affinity": Reads;
}

/** A comparison of a worker that {@link when} takes in a policy: with a constant, and of nothing that a worker could choose for itself. */
export type WorkerCondition = Comparison<
  "meta" | "metric" | "load" | "utilization",
  "equality" | "order",
  never
>;

/** What {@link prefer}, {@link least}, {@link most} and {@link sticky} return. */
export interface PlainScoreTerm<Reads = unknown> extends Reading<Reads> {
  readonly kind: "prefer" | "least" | "most" | "sticky";
  readonly weight: number;
}

/** What {@link when} returns for a term of {@link score}. */
export interface WhenScored<Reads = unknown> extends Reading<Reads> {
  readonly kind: "when";
  readonly "~in"?: "score";
}

/** A term of {@link score}. */
export type ScoreTerm<Reads = unknown> = PlainScoreTerm<Reads> | WhenScored<Reads>;

/** What {@link score} returns: the option `routing` of a workflow. */
export interface RoutingPolicy<Reads = unknown> {
  readonly terms: readonly ScoreTerm<Reads>[];
  /** Never set; says to the types what the terms read. */
  readonly "~routing": Reads;
}

/** How much a term of a policy counts. */
export interface WeightOptions<Weight extends number = number> {
  /** A finite number above 0. Default 1. */
  readonly weight?: `${Weight}` extends "0" | `-${string}` ? never : Weight;
}

/** What {@link concurrency}, {@link rate} and {@link limit} return: entries of the option `limits`. */
export interface Limit<Reads = unknown> {
  readonly kind: LimitDeclaration["kind"];
  /** Never set; says to the types what its key reads. */
  readonly "~limit": Reads;
}

/** Options of every limit. */
export interface LimitOptions {
  /** Each value has a limit of its own; executions without one share theirs. */
  readonly key?: Ref;
}

/** What the key among the options of a limit reads. */
export type KeyReads<Options> = Options extends { readonly key: Ref<infer Reads> } ? Reads : never;

/** Options of {@link concurrency}. */
export interface ConcurrencyOptions extends LimitOptions {
  /** Its place is kept from the first start to the end, also while the execution waits. Default false. */
  readonly holdWhileWaiting?: boolean;
  /** `"reject"`: a start that would wait is refused. Default `"queue"`. */
  readonly overflow?: "queue" | "reject";
}
