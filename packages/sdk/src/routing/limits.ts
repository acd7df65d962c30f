import type { Duration } from "@engine/contract";
import { made } from "./made.ts";
import type { ConcurrencyOptions, Limit, LimitOptions, OfRoutingInput } from "./terms.ts";

/**
 * At most so many executions of the workflow at a time, 1 to 100,000, counted apart for each value of
 * the key.
 *
 * @throws EngineError `invalid_definition` for a wrong number or option.
 * @example
 * ```ts
 * workflow({ name: "sync", limits: [concurrency(10), concurrency(2, { key: input("tenant_id") })] }, …)
 * ```
 */
export function concurrency<Reads extends string | OfRoutingInput = never>(
  count: number,
  options?: ConcurrencyOptions<Reads>,
): Limit<Reads> {
  return made("concurrency", [count, options]);
}

/**
 * At most so many first starts of the workflow in any period, from a second to a day.
 *
 * @throws EngineError `invalid_definition` for a wrong number, period or option.
 * @example
 * ```ts
 * workflow({ name: "mail", limits: [rate(100, "1m", { key: input("tenant_id") })] }, …)
 * ```
 */
export function rate<Reads extends string | OfRoutingInput = never>(
  count: number,
  period: Duration,
  options?: LimitOptions<Reads>,
): Limit<Reads> {
  return made("rate", [count, period, options]);
}

/**
 * A limit that operators define and change, shared by all workflows that name it.
 *
 * @throws EngineError `invalid_definition` for what is no name, or a wrong option.
 * @example
 * ```ts
 * workflow({ name: "summary", limits: [limit("openai")] }, …)
 * ```
 */
export function limit<Reads extends string | OfRoutingInput = never>(
  name: string,
  options?: LimitOptions<Reads>,
): Limit<Reads> {
  return made("limit", [name, options]);
}
