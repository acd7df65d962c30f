/** A text in which parts were replaced by what they stand for, and where all of it came from. */
export class DecodedText {
  readonly #source: string;
  #text = "";
  #from = 0;
  /** Where something else begins than a copy: in this text, and in the source. */
  readonly #places: number[] = [0];
  readonly #sources: number[] = [0];

  constructor(source: string) {
    this.#source = source;
  }

  get text(): string {
    return this.#text;
  }

  /** Replaces the next part of the source. */
  replace(from: number, to: number, by: string): void {
    this.#copy(from);
    this.#text += by;
    this.#from = to;
    this.#mark();
  }

  /** Once all parts are replaced. */
  finish(): this {
    this.#copy(this.#source.length);
    return this;
  }

  /** Where a place in this text is in the source. */
  sourceOf(place: number): number {
    let [low, high] = [0, this.#places.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#places[middle] as number) <= place) low = middle;
      else high = middle;
    }
    return (this.#sources[low] as number) + place - (this.#places[low] as number);
  }

  #copy(to: number): void {
    if (this.#from === to) return;
    this.#text += this.#source.slice(this.#from, to);
    this.#from = to;
    this.#mark();
  }

  #mark(): void {
    this.#places.push(this.#text.length);
    this.#sources.push(this.#from);
  }
}
