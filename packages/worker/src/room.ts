/** A part of a {@link Room}, from when it was asked for until it is left. */
export interface Place {
  /** Settles when there is room; never for a part that was left before. */
  readonly had: Promise<void>;
  leave(): void;
}

/** How much of each thing; nothing of one that is not named. */
export type Amounts = Readonly<Record<string, number>>;

/** Fractions, such as of cores, add up to a little more or less than they should. */
const ROUNDING = 1e-9;

/**
 * Things of which there is only so much, such as memory. Requests are served in the order of asking,
 * since a large one would otherwise wait for ever. A request for more than there is is served while
 * nobody is inside.
 */
export class Room {
  readonly #size: Amounts;
  readonly #taken = new Map<string, number>();
  #inside = 0;
  readonly #waiting = new Set<{ readonly wanted: Amounts; enter(): void }>();

  constructor(size: Amounts) {
    this.#size = size;
  }

  get isWaitedFor(): boolean {
    return this.#waiting.size > 0;
  }

  /** @param atOnce Whether there is room or not: those who ask later wait until there is again. */
  ask(wanted: Amounts, { atOnce = false }: { atOnce?: boolean } = {}): Place {
    const { promise: had, resolve } = Promise.withResolvers<void>();
    let isInside = false;
    const enter = () => {
      isInside = true;
      this.#take(wanted, 1);
      resolve();
    };
    const waiting = { wanted, enter };
    if (atOnce) enter();
    else this.#waiting.add(waiting);
    this.#admit();
    const leave = () => {
      this.#waiting.delete(waiting);
      if (isInside) this.#take(wanted, -1);
      isInside = false;
      this.#admit();
    };
    return { had, leave };
  }

  #admit(): void {
    for (const waiting of this.#waiting) {
      if (this.#inside > 0 && !this.#hasRoom(waiting.wanted)) return;
      this.#waiting.delete(waiting);
      waiting.enter();
    }
  }

  #hasRoom(wanted: Amounts): boolean {
    return Object.entries(this.#size).every(
      ([name, size]) => (this.#taken.get(name) ?? 0) + (wanted[name] ?? 0) <= size + ROUNDING,
    );
  }

  #take(amounts: Amounts, sign: 1 | -1): void {
    this.#inside += sign;
    for (const [name, amount] of Object.entries(amounts)) {
      this.#taken.set(name, (this.#taken.get(name) ?? 0) + sign * amount);
    }
  }
}
