/** A part of a {@link Room}, from when it was asked for until it is left. */
export interface Place {
  /** Settles when there is room; never for a part that was left before. */
  readonly had: Promise<void>;
  leave(): void;
}

/**
 * Something of which there is only so much, such as memory. Requests are served in the order of asking,
 * since a large one would otherwise wait for ever. A request for more than there is is served while
 * nothing is taken.
 */
export class Room {
  readonly #size: number;
  #taken = 0;
  readonly #waiting = new Map<object, { readonly size: number; enter(): void }>();

  constructor(size: number) {
    this.#size = size;
  }

  get isWaitedFor(): boolean {
    return this.#waiting.size > 0;
  }

  ask(size: number): Place {
    const key = {};
    const { promise: had, resolve } = Promise.withResolvers<void>();
    let isHad = false;
    const enter = () => {
      isHad = true;
      this.#taken += size;
      resolve();
    };
    this.#waiting.set(key, { size, enter });
    this.#admit();
    const leave = () => {
      this.#waiting.delete(key);
      if (isHad) this.#taken -= size;
      isHad = false;
      this.#admit();
    };
    return { had, leave };
  }

  #admit(): void {
    for (const [key, { size, enter }] of this.#waiting) {
      if (this.#taken > 0 && this.#taken + size > this.#size) return;
      this.#waiting.delete(key);
      enter();
    }
  }
}
