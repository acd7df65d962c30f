import type { Config } from "@engine/contract";

/**
 * Milliseconds that an execution may wait for a worker (DSP-8); null = for ever.
 *
 * @param seconds Of the run itself, where that says something else than the configuration.
 */
export function parkTtlMs(
  { workers }: Pick<Config, "workers">,
  seconds: number = workers.park_ttl,
): number | null {
  return seconds === 0 ? null : seconds * 1000;
}
