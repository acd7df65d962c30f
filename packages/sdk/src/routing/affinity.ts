import { made } from "./made.ts";
import type {
  Affinity,
  AffinityTerm,
  Comparison,
  InputCondition,
  MatchTerm,
  OfRoutingInput,
  OptionalTerm,
  PlainScoreTerm,
  ReadsOf,
  Ref,
  Selector,
  WhenRequired,
  WhenScored,
  WorkerCondition,
} from "./terms.ts";

/** Why there is no such constraint: it would have no term. */
export interface NoTerms {
  readonly "~expected": "at least one term";
}

/** Texts that are no key of a label or of metadata, as far as types can tell. */
type NoKey =
  | ""
  | `${Odd}${string}`
  | `${string}${Odd}`
  | `${string}${" " | "/" | ":" | "="}${string}`;
type Odd = "." | "-" | "_";

/** Texts that are no path. */
type NoPath =
  | ""
  | `.${string}`
  | `${string}.`
  | `${string}..${string}`
  | `${string}[${string}`
  | `${string}]${string}`
  | `${number}`
  | `${number}.${string}`
  | `${string}.${number}`
  | `${string}.${number}.${string}`;

/**
 * What the worker of an execution must be: all terms hold, 1 to 64 of them. An execution that no worker
 * matches waits until one does.
 *
 * @throws EngineError `invalid_definition` for what is no such term.
 * @example
 * ```ts
 * workflow({ name: "train", affinity: require(label("region").eq(input("region")), service("gpu")) }, …)
 * ```
 */
export function require(): NoTerms;
export function require<const Terms extends readonly AffinityTerm[]>(
  ...terms: Terms
): Affinity<ReadsOf<Terms[number]>>;
export function require(...terms: readonly unknown[]): unknown {
  return made("require", terms);
}

/**
 * A label of a worker, which it has until it restarts.
 *
 * @throws EngineError `invalid_definition` for what is no key.
 * @example
 * ```ts
 * require(label("os").eq("linux"), label("region").ne("eu"))
 * ```
 */
export function label<const Key extends string>(
  key: Key extends NoKey ? never : Key,
): Selector<"label", never> {
  return made("label", [key]);
}

/**
 * The label whose key ends in a value of the execution. An execution fails when it has no such value, or
 * one that makes no key.
 *
 * @throws EngineError `invalid_definition` for a head that no key begins with.
 * @example
 * ```ts
 * require(labelFor("dataset.", input("dataset")).eq("true"))
 * ```
 */
export function labelFor<Reads extends string | OfRoutingInput>(
  prefix: string,
  suffix: Ref<Reads>,
): Selector<"labelFor", Reads> {
  return made("labelFor", [prefix, suffix]);
}

/**
 * Metadata of a worker, which operators keep on the server; no worker can set it.
 *
 * @throws EngineError `invalid_definition` for what is no key.
 * @example
 * ```ts
 * require(meta("maintenance").ne("true"))
 * ```
 */
export function meta<const Key extends string>(
  key: Key extends NoKey ? never : Key,
): Selector<"meta", never> {
  return made("meta", [key]);
}

/**
 * The metadata whose key ends in a value of the execution, as {@link labelFor} does.
 *
 * @throws EngineError `invalid_definition` for a head that no key begins with.
 * @example
 * ```ts
 * require(metaFor("approved.", input("model")).eq("true"))
 * ```
 */
export function metaFor<Reads extends string | OfRoutingInput>(
  prefix: string,
  suffix: Ref<Reads>,
): Selector<"metaFor", Reads> {
  return made("metaFor", [prefix, suffix]);
}

/**
 * A worker that offers a local service and was granted it; a condition by itself.
 *
 * @throws EngineError `invalid_definition` for what is no name of a service.
 * @example
 * ```ts
 * require(service("inference"), service(input("model")))
 * ```
 */
export function service(name: string): Comparison<"service", "equality", never>;
export function service<Reads extends string | OfRoutingInput>(
  name: Ref<Reads>,
): Comparison<"service", "equality", Reads>;
export function service<Part>(name: unknown): Part {
  return made("service", [name]);
}

/**
 * A value of the execution's input, by names joined by dots; no index of a list. Where the input's type
 * is known to the workflow, a path that it does not have does not compile.
 *
 * @throws EngineError `invalid_definition` for what is no path.
 * @example
 * ```ts
 * workflow({ name: "train", affinity: require(label("region").eq(input("tenant.region"))) }, …)
 * ```
 */
export function input<const Path extends string>(
  path: Path extends NoPath ? never : Path,
): Ref<Path> {
  return made("input", [path]);
}

/**
 * A value of the execution's routing input, which is given at its start to be matched and reaches
 * neither the workflow nor anybody who reads the execution.
 *
 * @throws EngineError `invalid_definition` for what is no path.
 * @example
 * ```ts
 * require(labelFor("dataset.", routingInput("dataset")).eq("true"))
 * ```
 */
export function routingInput<const Path extends string>(
  path: Path extends NoPath ? never : Path,
): Ref<OfRoutingInput> {
  return made("routingInput", [path]);
}

/**
 * A term that is skipped for executions that lack the value it reads.
 *
 * @throws EngineError `invalid_definition` for a term that reads none.
 * @example
 * ```ts
 * require(optional(label("node").eq(input("node"))))
 * ```
 */
export function optional<Term extends MatchTerm>(
  term: Term & ([ReadsOf<Term>] extends [never] ? never : unknown),
): OptionalTerm<ReadsOf<Term>> {
  return made("optional", [term]);
}

/**
 * A term for those executions only that a condition holds for. In a policy the condition may also be one
 * on the worker; the term then counts for the workers it holds for.
 *
 * @throws EngineError `invalid_definition` for a condition on labels or resources, and for a `when` inside.
 * @example
 * ```ts
 * require(when(input("tier").eq("restricted"), label("compliance").eq("hipaa")))
 * score(when(meta("tier").eq("spot"), least(load())))
 * ```
 */
export function when<Condition extends InputCondition, Term extends MatchTerm | OptionalTerm>(
  condition: Condition,
  term: Term,
): WhenRequired<ReadsOf<Condition> | ReadsOf<Term>>;
export function when<
  Condition extends InputCondition | WorkerCondition,
  Term extends PlainScoreTerm,
>(condition: Condition, term: Term): WhenScored<ReadsOf<Condition> | ReadsOf<Term>>;
export function when<Part>(condition: unknown, term: unknown): Part {
  return made("when", [condition, term]);
}
