import type { ResolvedLimit } from "@engine/contract";

/** What a bucket holds at most, in one way to count it. */
interface Known {
  most: number;
  /** When it was counted: an earlier window may hold more. */
  readonly at: number;
}

/** Places that are held, or the length of the window in which first claims are counted. */
type Way = "places" | number;

/** Above this many buckets all are forgotten, and counted again one by one. */
const MOST_KNOWN = 10_000;
const LEAST_GROWN = 8;

/**
 * How much limits hold at most, as far as this connection knows: what was counted once, and every claim
 * since. Others leave meanwhile, so that it may be less. A claim that has room by this has room, and needs
 * no count of all who have a place or began lately. Operators' limits are not known here: they change.
 *
 * A claim counts in every way that its buckets are counted, by whichever version of the workflow: one may
 * have another rate than the next.
 */
export class KnownRoom {
  readonly #known = new Map<string, Map<Way, Known>>();

  /** Whether a claim surely has a place under all of its limits. */
  has(limits: readonly ResolvedLimit[], at: number): boolean {
    return limits.every((limit) => {
      // Whether it has kept its place is a matter of the rows.
      if (limit.kind === "limit" || (limit.kind === "concurrency" && limit.hold_while_waiting)) {
        return false;
      }
      const known = this.#known.get(limit.bucket)?.get(wayOf(limit));
      return (
        known !== undefined && known.most < limit.count && known.at <= at && !isDue(known.most)
      );
    });
  }

  /** A claim was let in. */
  grown(limits: readonly ResolvedLimit[]): void {
    for (const bucket of new Set(limits.map((limit) => limit.bucket))) {
      for (const known of this.#known.get(bucket)?.values() ?? []) known.most++;
    }
  }

  /** What each limit of a claim holds with it, which was let in after a count. */
  counted(
    limits: readonly ResolvedLimit[],
    at: number,
    count: (limit: Exclude<ResolvedLimit, { kind: "limit" }>) => number,
  ): void {
    this.grown(limits);
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    for (const limit of limits) {
      if (limit.kind === "limit") continue;
      const ways = this.#known.get(limit.bucket) ?? new Map<Way, Known>();
      this.#known.set(limit.bucket, ways.set(wayOf(limit), { most: count(limit), at }));
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

function wayOf(limit: Exclude<ResolvedLimit, { kind: "limit" }>): Way {
  return limit.kind === "rate" ? limit.period_ms : "places";
}
