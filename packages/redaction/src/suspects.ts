/** Characters that a string of a JSON text may hide a value with. */
export type Disguise = "\\" | "%" | "+";

/**
 * Which strings and numbers of a JSON text may hold what is masked: those where something was found in
 * the text, and those with a character by which a value may be written in another way. Most need not be
 * read, then. Places are asked for from left to right.
 */
export class Suspects {
  readonly #json: string;
  readonly #spans: readonly number[];
  readonly #disguises: readonly Disguise[];
  #span = 0;
  /** The next place of each disguise that is not behind us. */
  readonly #next: number[];
  /** Whether a number may be a value that is written in another way. */
  readonly hasNumbers: boolean;

  constructor(
    json: string,
    spans: readonly number[],
    disguises: readonly Disguise[],
    hasNumbers: boolean,
  ) {
    this.#json = json;
    this.#spans = spans;
    this.#disguises = disguises;
    this.#next = disguises.map((disguise) => json.indexOf(disguise));
    this.hasNumbers = hasNumbers;
  }

  /** Whether something is in this part of the text. */
  isFound(from: number, to: number): boolean {
    const spans = this.#spans;
    while (this.#span < spans.length && (spans[this.#span + 1] as number) <= from) this.#span += 2;
    return this.#span < spans.length && (spans[this.#span] as number) < to;
  }

  isDisguised(from: number, to: number): boolean {
    for (let i = 0; i < this.#next.length; i++) {
      let at = this.#next[i] as number;
      if (at >= 0 && at < from) {
        at = this.#json.indexOf(this.#disguises[i] as Disguise, from);
        this.#next[i] = at;
      }
      if (at >= 0 && at < to) return true;
    }
    return false;
  }
}
