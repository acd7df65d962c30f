/**
 * Where in a text a pattern may begin. All patterns are told apart by their first 8 characters, the
 * window. Three characters at a time are looked up in a table that says how far on a window can end at
 * the soonest (as Wu and Manber do it), so that many characters are never looked at, however many
 * patterns there are. A window that ends as a known one does is looked up by the hash of all of it.
 *
 * Everything lies in arrays of numbers: a pattern costs some 30 bytes, however long it is.
 */
export const WINDOW = 8;
const LAST = WINDOW - 1;
const BLOCK = 3;
/** How far a window without any part of a pattern in its last block can be left behind. */
const FARTHEST = WINDOW - BLOCK + 1;
const TAKEN = -1;

export class WindowTable {
  readonly #skips: Uint8Array;
  /** 32 less the number of bits by which `#skips` is indexed. */
  readonly #shift: number;
  /** Open addressing: hash of a window, and 1 + the last pattern that begins with it. */
  readonly #hashes: Int32Array;
  readonly #heads: Int32Array;
  readonly #mask: number;
  /** 1 + the pattern that was added before with the same window, 0 for none. */
  readonly #before: Int32Array;
  #slot = 0;

  constructor(patterns: number) {
    const bits = Math.min(Math.max(Math.ceil(Math.log2(patterns * FARTHEST * 8)), 10), 22);
    this.#skips = new Uint8Array(2 ** bits).fill(FARTHEST);
    this.#shift = 32 - bits;
    const slots = 2 ** Math.ceil(Math.log2(patterns * 2 + 1));
    this.#hashes = new Int32Array(slots);
    this.#heads = new Int32Array(slots);
    this.#mask = slots - 1;
    this.#before = new Int32Array(patterns);
  }

  /** @param start At least the window of the pattern. */
  add(pattern: number, start: string): void {
    for (let end = BLOCK - 1; end <= LAST; end++) {
      const block = blockHash(start, end) >>> this.#shift;
      const skip = LAST - end;
      if (skip < (this.#skips[block] as number)) this.#skips[block] = skip;
    }
    const hash = windowHash(start, LAST);
    const slot = this.#slotOf(hash);
    this.#hashes[slot] = hash;
    this.#before[pattern] = this.#heads[slot] as number;
    this.#heads[slot] = pattern + 1;
  }

  /** The first place from `from` on where a pattern may begin; -1 for none. */
  next(text: string, from: number): number {
    const skips = this.#skips;
    const shift = this.#shift;
    const length = text.length;
    let end = from + LAST;
    while (end < length) {
      const skip = skips[blockHash(text, end) >>> shift] as number;
      if (skip > 0) {
        end += skip;
        continue;
      }
      const slot = this.#slotOf(windowHash(text, end));
      if (this.#heads[slot] !== 0) {
        this.#slot = slot;
        return end - LAST;
      }
      end++;
    }
    return -1;
  }

  /** Whether the patterns with the window that was found have been given out. */
  get isTaken(): boolean {
    return this.#heads[this.#slot] === TAKEN;
  }

  /** The patterns with the window that {@link next} has found; each window gives its own only once. */
  *take(): Generator<number, void, undefined> {
    let next = this.#heads[this.#slot] as number;
    this.#heads[this.#slot] = TAKEN;
    for (; next > 0; next = this.#before[next - 1] as number) yield next - 1;
  }

  #slotOf(hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & this.#mask;
    while (this.#heads[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & this.#mask;
    return slot;
  }
}

function blockHash(text: string, end: number): number {
  const block =
    text.charCodeAt(end) ^ (text.charCodeAt(end - 1) << 8) ^ (text.charCodeAt(end - 2) << 16);
  return Math.imul(block, 0x9e3779b1);
}

function windowHash(text: string, end: number): number {
  let hash = 0;
  for (let i = end - LAST; i <= end; i++) hash = Math.imul(hash, 0x01000193) ^ text.charCodeAt(i);
  return Math.imul(hash, 0x9e3779b1);
}
