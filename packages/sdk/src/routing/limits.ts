import type { Duration } from "@engine/contract";
import { made } from "./made.ts";
import type { ConcurrencyOptions, KeyReads, Limit, LimitOptions } from "./terms.ts";

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
export function concurrency<const Options extends ConcurrencyOptions = Record<never, never>>(
  count: number,
  options?: Options,
): Limit<KeyReads<Options>> {
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
export function rate<const Options extends LimitOptions = Record<never, never>>(
  count: number,
  period: Duration,
  options?: Options,
): Limit<KeyReads<Options>> {
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
export function limit<const Options extends LimitOptions = Record<never, never>>(
  name: string,
  options?: Options,
): Limit<KeyReads<Options>> {
  return made("limit", [name, options]);
}
