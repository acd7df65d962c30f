const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** Full jitter: a random part of a bound that doubles with every try, so that herds spread out. */
export class Backoff {
  readonly #random: () => number;
  #bound = FIRST_MS;

  constructor(random: () => number) {
    this.#random = random;
  }

  next(): number {
    const ms = this.#random() * this.#bound;
    this.#bound = Math.min(this.#bound * 2, LONGEST_MS);
    return ms;
  }

  reset(): void {
    this.#bound = FIRST_MS;
  }
}
