/** Sums are kept for every so many characters; those between are added when they are asked for. */
const STEP = 32;
const BASES = [0x01000193, 0x5bd1e995] as const;

/** What the sum of a text is multiplied by when so many characters follow it. */
export type Powers = readonly [number, number];

export function powersOf(length: number): Powers {
  return [power(BASES[0], length), power(BASES[1], length)];
}

/**
 * Hashes of parts of a text, each in the same short time, however long the part is: two polynomials
 * of 32 bits, of which 53 bits count. Texts that only look alike by it would be masked as well, so a
 * collision hides something too much and never shows anything.
 */
export class TextHash {
  readonly #text: string;
  readonly #sums: readonly [Int32Array, Int32Array];

  constructor(text: string) {
    this.#text = text;
    this.#sums = [sumsOf(text, BASES[0]), sumsOf(text, BASES[1])];
  }

  /** @param powers Those of the length of the part. */
  of(from: number, to: number, powers: Powers): number {
    const a = this.#sum(0, to) - Math.imul(this.#sum(0, from), powers[0]);
    const b = this.#sum(1, to) - Math.imul(this.#sum(1, from), powers[1]);
    return (a >>> 0) * 2 ** 21 + (b >>> 11);
  }

  #sum(which: 0 | 1, to: number): number {
    const step = Math.floor(to / STEP);
    return extended(this.#sums[which][step] as number, BASES[which], this.#text, step * STEP, to);
  }
}

function sumsOf(text: string, base: number): Int32Array {
  const sums = new Int32Array(Math.floor(text.length / STEP) + 1);
  for (let i = 1; i < sums.length; i++) {
    sums[i] = extended(sums[i - 1] as number, base, text, (i - 1) * STEP, i * STEP);
  }
  return sums;
}

function extended(sum: number, base: number, text: string, from: number, to: number): number {
  let extended = sum;
  for (let i = from; i < to; i++) extended = (Math.imul(extended, base) + text.charCodeAt(i)) | 0;
  return extended;
}

function power(base: number, exponent: number): number {
  let result = 1;
  for (let square = base, left = exponent; left > 0; left >>>= 1) {
    if (left & 1) result = Math.imul(result, square);
    square = Math.imul(square, square);
  }
  return result;
}
