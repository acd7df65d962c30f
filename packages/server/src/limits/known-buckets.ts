import type { LimitDenial, ResolvedLimit } from "@engine/contract";
import type { LimitView } from "./limit-check.ts";

/** A limit that had no place when it was last asked for one. */
interface Full {
  denied: LimitDenial;
  /** Places that have been given back since, as far as that was heard of. */
  room: number;
  /** Claims that are asked for just now. */
  underWay: number;
  /** It was let be tried once more, though nothing was heard of a place. */
  isProbed: boolean;
}

/** A claim whose answer has not come. */
export interface Asked {
  readonly limits: readonly ResolvedLimit[];
  /** Those that are known to be full, and are asked for a place that has come back. */
  readonly counted: readonly Full[];
  /** Places that came back since it was asked for: its answer may be older than they are. */
  readonly freed: Map<string, number>;
}

/**
 * What is known of limits from the answers of the store, so that it is not asked in vain. Not more than
 * that: a place is only taken by a claim that counts.
 */
export class KnownBuckets implements LimitView {
  /** By bucket, and by what the limit allows: versions of a workflow may differ in that. */
  readonly #full = new Map<string, Map<string, Full>>();
  readonly #asked = new Set<Asked>();

  denial(limit: ResolvedLimit): LimitDenial | undefined {
    const full = this.#find(limit);
    return full && full.room <= full.underWay ? full.denied : undefined;
  }

  /** What is full, as far as it is known. */
  *denials(): Generator<LimitDenial, void, undefined> {
    for (const limits of this.#full.values())
      for (const { denied } of limits.values()) yield denied;
  }

  ask(limits: readonly ResolvedLimit[]): Asked {
    const counted = limits.flatMap((limit) => this.#find(limit) ?? []);
    for (const full of counted) full.underWay++;
    const asked: Asked = { limits, counted, freed: new Map() };
    this.#asked.add(asked);
    return asked;
  }

  /** @param answer What the store said: that there is no place, or that one was taken. */
  answered(
    asked: Asked,
    answer: { readonly denied?: LimitDenial | undefined; readonly took: boolean },
  ): void {
    this.#asked.delete(asked);
    for (const full of asked.counted) {
      full.underWay--;
      if (answer.took) full.room = Math.max(0, full.room - 1);
    }
    const { denied } = answer;
    if (!denied) return;
    const { limit } = denied;
    const room = asked.freed.get(limit.bucket) ?? 0;
    const known = this.#find(limit);
    if (known) {
      // Other claims are counted in it: it stays the one that they count down.
      known.denied = denied;
      known.room = room;
      known.isProbed = false;
      return;
    }
    const limits = this.#full.get(limit.bucket) ?? new Map<string, Full>();
    limits.set(allowedBy(limit), { denied, room, underWay: 0, isProbed: false });
    this.#full.set(limit.bucket, limits);
  }

  /** A place has come back; answers whether anything is known to wait for it. */
  freed(bucket: string): boolean {
    for (const { limits, freed } of this.#asked) {
      if (limits.some((limit) => limit.bucket === bucket)) {
        freed.set(bucket, (freed.get(bucket) ?? 0) + 1);
      }
    }
    const limits = this.#full.get(bucket);
    for (const full of limits?.values() ?? []) full.room++;
    return limits !== undefined;
  }

  /** Those that were full, and have room as far as is known. */
  open(limits: readonly ResolvedLimit[]): readonly string[] {
    return limits.flatMap((limit) =>
      this.#find(limit) && !this.denial(limit) ? [limit.bucket] : [],
    );
  }

  /**
   * Lets one claim of each that is full be tried; answers which they are. What nobody has tried since the
   * last time is waited for by nobody, and forgotten.
   */
  probe(): readonly string[] {
    for (const [bucket, limits] of this.#full) {
      for (const [allowed, full] of limits) {
        if (full.isProbed && full.room > 0 && full.underWay === 0) limits.delete(allowed);
        full.room = Math.max(1, full.room);
        full.isProbed = true;
      }
      if (limits.size === 0) this.#full.delete(bucket);
    }
    return [...this.#full.keys()];
  }

  /** Whatever is known of some buckets counts no more; answers which of them were full. */
  forget(isMeant: (bucket: string) => boolean): readonly string[] {
    const forgotten = [...this.#full.keys()].filter(isMeant);
    for (const bucket of forgotten) this.#full.delete(bucket);
    for (const { limits, freed } of this.#asked) {
      for (const { bucket } of limits) {
        if (isMeant(bucket)) freed.set(bucket, Number.POSITIVE_INFINITY);
      }
    }
    return forgotten;
  }

  #find(limit: ResolvedLimit): Full | undefined {
    return this.#full.get(limit.bucket)?.get(allowedBy(limit));
  }
}

function allowedBy(limit: ResolvedLimit): string {
  if (limit.kind === "limit") return "";
  return limit.kind === "rate" ? `${limit.count}/${limit.period_ms}` : String(limit.count);
}
