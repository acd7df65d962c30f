import { type Powers, powersOf, TextHash } from "./text-hash.ts";

type Write = () => string;

interface OfLength {
  readonly length: number;
  readonly powers: Powers;
  readonly hashes: Set<number>;
}

/**
 * Patterns that begin alike and are too long to be kept: each as its length and a hash, so that a
 * text that holds almost the pattern again and again is not compared with it again and again. They
 * are written out once, when a text first has their beginning.
 */
export class LongPatterns {
  readonly #unwritten: Write[] = [];
  readonly #all: Write[] = [];
  /** The longest first. */
  #lengths: OfLength[] = [];

  add(write: Write): void {
    this.#unwritten.push(write);
    this.#all.push(write);
  }

  /** How long the longest pattern is that a text has from this place on; 0 for none. */
  longest(text: HashedText, at: number): number {
    while (this.#unwritten.length > 0) this.#write((this.#unwritten.pop() as Write)());
    for (const { length, powers, hashes } of this.#lengths) {
      if (at + length > text.length) continue;
      if (hashes.has(text.hash.of(at, at + length, powers))) return length;
    }
    return 0;
  }

  /** Whether one of them begins with this text and goes on. */
  haveStart(start: string): boolean {
    return this.#all.some((write) => {
      const pattern = write();
      return pattern.length > start.length && pattern.startsWith(start);
    });
  }

  #write(pattern: string): void {
    const { length } = pattern;
    let same = this.#lengths.find((known) => known.length === length);
    if (!same) {
      same = { length, powers: powersOf(length), hashes: new Set() };
      this.#lengths.push(same);
      this.#lengths.sort((a, b) => b.length - a.length);
    }
    same.hashes.add(new TextHash(pattern).of(0, length, same.powers));
  }
}

/** A text that is hashed once it has to be. */
export class HashedText {
  readonly text: string;
  #hash: TextHash | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get length(): number {
    return this.text.length;
  }

  get hash(): TextHash {
    this.#hash ??= new TextHash(this.text);
    return this.#hash;
  }
}
