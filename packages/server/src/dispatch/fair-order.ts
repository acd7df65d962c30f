/** An execution's key among those of its priority, and the part of the claims that it is to have. */
export interface FairShare {
  readonly priority: number;
  readonly key: string;
  /** From 1 to 100; twice the weight is twice the claims. */
  readonly weight: number;
}

/** Keys of one priority: what each has had so far, in claims by their weight. */
interface Level {
  /** Of the last claim: a key that comes later begins here, and is owed nothing for the time before. */
  now: number;
  readonly keys: Map<string, number>;
}

/** Of more keys, those that are owed nothing are forgotten. */
const MOST_KEYS = 10_000;

/**
 * Whose turn it is among keys that wait (FLW-6), in virtual time: a claim moves its key on by one over its
 * weight, and the key that is furthest behind comes next. With k keys that all wait and equal weights, of
 * any n·k claims in a row at least n − 1 are of each.
 */
export class FairOrder {
  readonly #levels = new Map<number, Level>();

  /** Below 0: a comes first; 0: they are level, and whoever waits longer comes first. */
  compare(a: Omit<FairShare, "weight">, b: Omit<FairShare, "weight">): number {
    if (a.priority !== b.priority) return b.priority - a.priority;
    return this.#timeOf(a) - this.#timeOf(b);
  }

  claimed(share: FairShare): void {
    const level = this.#levels.get(share.priority) ?? { now: 0, keys: new Map() };
    this.#levels.set(share.priority, level);
    const at = this.#timeOf(share);
    level.now = Math.max(level.now, at);
    level.keys.set(share.key, at + 1 / share.weight);
    if (level.keys.size > MOST_KEYS) prune(level);
  }

  #timeOf({ priority, key }: Omit<FairShare, "weight">): number {
    const level = this.#levels.get(priority);
    if (!level) return 0;
    return Math.max(level.keys.get(key) ?? 0, level.now);
  }
}

/** A key that is not ahead has nothing to be remembered by. */
function prune({ now, keys }: Level): void {
  for (const [key, at] of keys) if (at <= now) keys.delete(key);
}
