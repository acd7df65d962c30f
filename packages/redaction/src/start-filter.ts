/** Bits for each start, three of which are set: one in a thousand others has them, too. */
const BITS_EACH = 32;
/** 16 MB; with more starts than four million, more others pass. */
const MOST_BITS = 27;

/**
 * Tells whether a text is the start of a pattern, for starts that are shorter than a window: surely, if
 * it is, and with few mistakes, if it is not (a Bloom filter).
 */
export class StartFilter {
  readonly #bits: Int32Array;
  readonly #shift: number;

  constructor(starts: number) {
    const bits = Math.min(Math.max(Math.ceil(Math.log2(starts * BITS_EACH)), 10), MOST_BITS);
    this.#bits = new Int32Array(2 ** (bits - 5));
    this.#shift = 32 - bits;
  }

  add(text: string, length: number): void {
    let hash = hashOf(text, 0, length);
    for (let i = 0; i < 3; i++) {
      const bit = hash >>> this.#shift;
      this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] as number) | (1 << (bit & 31));
      hash = next(hash);
    }
  }

  /** Whether what a text has from a place on may be a start. */
  has(text: string, from: number): boolean {
    let hash = hashOf(text, from, text.length);
    for (let i = 0; i < 3; i++) {
      const bit = hash >>> this.#shift;
      if (((this.#bits[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false;
      hash = next(hash);
    }
    return true;
  }
}

function hashOf(text: string, from: number, to: number): number {
  let hash = to - from;
  for (let i = from; i < to; i++) hash = Math.imul(hash, 0x01000193) ^ text.charCodeAt(i);
  return next(hash);
}

function next(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 13), 0x9e3779b1);
}
