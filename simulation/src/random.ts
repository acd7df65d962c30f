/** The one source of chance in a run: equal seeds give equal numbers, on every machine. */
export class Random {
  readonly #name: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(name: string) {
    this.#name = name;
    const hash = hashOf(name);
    this.#a = hash;
    this.#b = hash ^ 0x9e3779b9;
    this.#c = Math.imul(hash, 0x85ebca6b);
    for (let i = 0; i < 12; i++) this.next();
  }

  /** One of its own for a purpose: what one of them is asked for does not move the others. */
  fork(purpose: string): Random {
    return new Random(`${this.#name}/${purpose}`);
  }

  /** From 0 to below 1. */
  next(): number {
    return this.#bits() / 4_294_967_296;
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("there is nothing to pick from");
    return item;
  }

  hex(length: number): string {
    let text = "";
    while (text.length < length) text += this.#bits().toString(16).padStart(8, "0");
    return text.slice(0, length);
  }

  uuid(): string {
    const text = this.hex(32);
    const parts = [text.slice(0, 8), text.slice(8, 12), `4${text.slice(13, 16)}`];
    return [...parts, `8${text.slice(17, 20)}`, text.slice(20)].join("-");
  }

  /** The generator sfc32, which is small and has no known weakness that matters here. */
  #bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + sum) | 0;
    return sum >>> 0;
  }
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
