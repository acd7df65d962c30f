import { EngineError } from "@engine/contract";

const MINUTE_MS = 60_000;
/** Counters in memory for each limit; the one that was used longest ago goes first. */
const MOST_COUNTERS = 10_000;

export interface RateLimitsOptions {
  /** By name: `"30/minute"`, or `""` for no limit. */
  readonly rates: Readonly<Record<string, string>>;
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonic: () => number;
}

/**
 * How often something may be done in a minute, counted for each key and in this process alone
 * (NET-2). The memory it takes is bounded, whoever comes: with more keys than it counts at a time, the
 * oldest ones begin anew.
 */
export class RateLimits {
  readonly #counters = new Map<string, Counters>();
  readonly #monotonic: () => number;

  /** @throws TypeError for a rate that is none. */
  constructor({ rates, monotonic }: RateLimitsOptions) {
    this.#monotonic = monotonic;
    for (const [name, rate] of Object.entries(rates)) {
      if (rate === "") continue;
      const [, number] = /^([1-9]\d*)\/minute$/.exec(rate) ?? [];
      if (number === undefined) throw new TypeError(`${JSON.stringify(rate)} is no rate`);
      this.#counters.set(name, new Counters(Number(number)));
    }
  }

  /**
   * Counts one more of `limit` for a key, such as an address. A limit that is not set is none.
   *
   * @throws EngineError `rate_limited`, which counts for nothing.
   */
  take(limit: string, key: string): void {
    const wait = this.#counters.get(limit)?.take(key, this.#monotonic()) ?? 0;
    if (wait === 0) return;
    const retry_after_seconds = Math.ceil(wait / 1000);
    throw new EngineError(
      "rate_limited",
      `too many requests of this kind; try again in ${retry_after_seconds} s`,
      { details: { limit, retry_after_seconds } },
    );
  }
}

interface Counter {
  tokens: number;
  /** When the tokens were counted. */
  at: number;
}

/** Buckets of tokens: each fills up within a minute, and one token goes with each request. */
class Counters {
  readonly #perMinute: number;
  /** In the order of their last use. */
  readonly #byKey = new Map<string, Counter>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** @returns 0, or in how many milliseconds there is a token again. */
  take(key: string, now: number): number {
    const known = this.#byKey.get(key) ?? { tokens: this.#perMinute, at: now };
    const filled = known.tokens + ((now - known.at) * this.#perMinute) / MINUTE_MS;
    const tokens = Math.min(this.#perMinute, filled);
    const isTaken = tokens >= 1;
    this.#byKey.delete(key);
    this.#byKey.set(key, { tokens: isTaken ? tokens - 1 : tokens, at: now });
    this.#forget(now);
    return isTaken ? 0 : Math.max(1, ((1 - tokens) * MINUTE_MS) / this.#perMinute);
  }

  /** Those that are full by now count nothing. */
  #forget(now: number): void {
    for (const [key, { at }] of this.#byKey) {
      if (now - at < MINUTE_MS && this.#byKey.size <= MOST_COUNTERS) return;
      this.#byKey.delete(key);
    }
  }
}
