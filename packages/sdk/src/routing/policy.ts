import type { ResourceField } from "@engine/contract";
import type { NoTerms } from "./affinity.ts";
import { made } from "./made.ts";
import type {
  Comparison,
  PlainScoreTerm,
  ReadsOf,
  RoutingPolicy,
  ScoreTerm,
  Selector,
  WeightOptions,
} from "./terms.ts";

/**
 * How the workers that may have an execution are ranked, 1 to 32 terms: each makes 0 to 1 of a worker,
 * times its weight, and the highest sum gets it. Admits nobody and refuses nobody.
 *
 * @throws EngineError `invalid_definition` for what is no such term.
 * @example
 * ```ts
 * workflow({ name: "chat", routing: score(prefer(service("gpu"), { weight: 10 }), least(load())) }, …)
 * ```
 */
export function score(): NoTerms;
export function score<const Terms extends readonly ScoreTerm[]>(
  ...terms: Terms
): RoutingPolicy<ReadsOf<Terms[number]>>;
export function score(...terms: readonly unknown[]): unknown {
  return made("score", terms);
}

/**
 * 1 for workers that a comparison holds for, else 0.
 *
 * @throws EngineError `invalid_definition` for a weight that is no finite number above 0.
 * @example
 * ```ts
 * score(prefer(metric("queue").lt(3), { weight: 10 }), prefer(service("gpu")))
 * ```
 */
export function prefer<Condition extends Comparison, const Weight extends number = number>(
  condition: Condition,
  options?: WeightOptions<Weight>,
): PlainScoreTerm<ReadsOf<Condition>> {
  return made("prefer", [condition, options]);
}

/** What workers can be ranked by: the same for every execution. */
type Ranked = Selector<"label" | "meta" | "metric" | "resource" | "load" | "utilization", never>;

/**
 * From 1 for the worker that has the least of something to 0 for the one that has the most; 0 for one
 * that has no number there.
 *
 * @throws EngineError `invalid_definition` for what differs by execution, and for a wrong weight.
 * @example
 * ```ts
 * score(least(utilization(), { weight: 5 }))
 * ```
 */
export function least<const Weight extends number = number>(
  selector: Ranked,
  options?: WeightOptions<Weight>,
): PlainScoreTerm<never> {
  return made("least", [selector, options]);
}

/**
 * From 1 for the worker that has the most of something to 0 for the one that has the least; 0 for one
 * that has no number there.
 *
 * @throws EngineError `invalid_definition` for what differs by execution, and for a wrong weight.
 * @example
 * ```ts
 * score(most(resource("memory_available")), most(meta("rank"), { weight: 0.5 }))
 * ```
 */
export function most<const Weight extends number = number>(
  selector: Ranked,
  options?: WeightOptions<Weight>,
): PlainScoreTerm<never> {
  return made("most", [selector, options]);
}

/**
 * 1 for the worker that the start prefers; for a child that of its parent.
 *
 * @throws EngineError `invalid_definition` for a weight that is no finite number above 0.
 * @example
 * ```ts
 * score(sticky({ weight: 3 }), least(load()))
 * ```
 */
export function sticky<const Weight extends number = number>(
  options?: WeightOptions<Weight>,
): PlainScoreTerm<never> {
  return made("sticky", [options]);
}

/**
 * A metric that a worker measures, its own or one of the engine such as `engine.loop_lag_seconds`.
 *
 * @throws EngineError `invalid_definition` for what names no metric.
 * @example
 * ```ts
 * score(prefer(metric("queue").lt(3)))
 * ```
 */
export function metric(name: string): Selector<"metric", never> {
  return made("metric", [name]);
}

/**
 * A resource of a worker: in all, or what is left of it. Cores and bytes.
 *
 * @throws EngineError `invalid_definition` for an unknown one.
 * @example
 * ```ts
 * score(most(resource("cpu_available")))
 * ```
 */
export function resource(field: ResourceField): Selector<"resource", never> {
  return made("resource", [field]);
}

/**
 * How many executions a worker has.
 *
 * @example
 * ```ts
 * score(least(load()))
 * ```
 */
export function load(): Selector<"load", never> {
  return made("load", []);
}

/**
 * How much of its slots a worker uses, from 0; nothing of one without a limit.
 *
 * @example
 * ```ts
 * score(prefer(utilization().lt(0.8)))
 * ```
 */
export function utilization(): Selector<"utilization", never> {
  return made("utilization", []);
}
