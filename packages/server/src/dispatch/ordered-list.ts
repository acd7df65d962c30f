/** Items in one part: adding and removing move no more than these. */
const MOST_OF_PART = 512;

/**
 * Items in an order in which no two are equal. Adding, removing and finding the next one cost little
 * however many there are, and a place in it outlives the item that had it.
 */
export class OrderedList<Item extends Key, Key = Item> {
  readonly #compare: (a: Key, b: Key) => number;
  /** In order; none of them is empty. */
  readonly #parts: Item[][] = [];
  #size = 0;

  constructor(compare: (a: Key, b: Key) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  get first(): Item | undefined {
    return this.#parts[0]?.[0];
  }

  get last(): Item | undefined {
    return this.#parts.at(-1)?.at(-1);
  }

  *[Symbol.iterator](): Generator<Item, void, undefined> {
    for (const part of this.#parts) yield* part;
  }

  add(item: Item): void {
    this.#size++;
    const at = Math.min(this.#partOf(item, 0), this.#parts.length - 1);
    const part = this.#parts[at];
    if (!part) {
      this.#parts.push([item]);
      return;
    }
    part.splice(this.#placeIn(part, item, 0), 0, item);
    if (part.length > MOST_OF_PART) {
      this.#parts.splice(at + 1, 0, part.splice(MOST_OF_PART >>> 1));
    }
  }

  /** @returns false where there is no such item. */
  remove(item: Item): boolean {
    const at = this.#partOf(item, 0);
    const part = this.#parts[at];
    if (!part) return false;
    const place = this.#placeIn(part, item, 0);
    const found = part[place];
    if (found === undefined || this.#compare(found, item) !== 0) return false;
    part.splice(place, 1);
    if (part.length === 0) this.#parts.splice(at, 1);
    this.#size--;
    return true;
  }

  /** The first item behind a place, which need not be that of an item. */
  after(place: Key): Item | undefined {
    const part = this.#parts[this.#partOf(place, 1)];
    return part?.[this.#placeIn(part, place, 1)];
  }

  /** How many come before an item. */
  before(item: Key): number {
    const at = this.#partOf(item, 0);
    const part = this.#parts[at];
    const inPart = part ? this.#placeIn(part, item, 0) : 0;
    return this.#parts.slice(0, at).reduce((sum, { length }) => sum + length, inPart);
  }

  /** Index of the first part whose last item compares so with an item, or more. */
  #partOf(item: Key, least: 0 | 1): number {
    let [low, high] = [0, this.#parts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const part = this.#parts[middle] as Item[];
      if (this.#compare(part[part.length - 1] as Item, item) < least) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #placeIn(part: readonly Item[], item: Key, least: 0 | 1): number {
    let [low, high] = [0, part.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(part[middle] as Item, item) < least) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
