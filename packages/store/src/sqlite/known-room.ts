import type { ResolvedLimit } from "@engine/contract";
import { rateKey } from "../limits/limit-queries.ts";

/** What one bucket, or one rate of it, holds at most. */
interface Known {
  most: number;
  /** When it was counted: an earlier window may hold more. */
  readonly at: number;
}

/** Above this many all are forgotten, and counted again one by one. */
const MOST_KNOWN = 10_000;
const LEAST_GROWN = 8;

/**
 * How much limits hold at most, as far as this connection knows: what was counted once, and every claim
 * since. Others leave meanwhile, so that it may be less. A claim that has room by this has room, and needs
 * no count of all who have a place or began lately. Operators' limits are not known here: they change.
 */
export class KnownRoom {
  readonly #known = new Map<string, Known>();

  /** Whether a claim surely has a place under all of its limits. */
  has(limits: readonly ResolvedLimit[], at: number): boolean {
    return limits.every((limit) => {
      // Whether it has kept its place is a matter of the rows.
      if (limit.kind === "limit" || (limit.kind === "concurrency" && limit.hold_while_waiting)) {
        return false;
      }
      const known = this.#known.get(keyOf(limit));
      return (
        known !== undefined && known.most < limit.count && known.at <= at && !isDue(known.most)
      );
    });
  }

  /** A claim was counted: what each of its limits holds with it. */
  counted(
    limits: readonly ResolvedLimit[],
    at: number,
    count: (limit: Exclude<ResolvedLimit, { kind: "limit" }>) => number,
  ): void {
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    for (const limit of limits) {
      if (limit.kind !== "limit") this.#known.set(keyOf(limit), { most: count(limit), at });
    }
  }

  /** A claim was let in by what is known. */
  grown(limits: readonly ResolvedLimit[]): void {
    for (const key of new Set(limits.map(keyOf))) {
      const known = this.#known.get(key);
      if (known) known.most++;
    }
  }

  forget(): void {
    this.#known.clear();
  }
}

/**
 * What was left behind is looked for each time that there seem to be a quarter more or so: it is never
 * much more than what counts, and each claim pays for a few rows.
 */
export function isDue(most: number): boolean {
  const step = Math.max(LEAST_GROWN, 2 ** (Math.floor(Math.log2(most)) - 2));
  return most > 0 && most % step === 0;
}

function keyOf(limit: ResolvedLimit): string {
  return limit.kind === "rate" ? rateKey(limit.bucket, limit) : limit.bucket;
}
