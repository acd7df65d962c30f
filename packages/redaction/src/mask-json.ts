import type { Suspects } from "./suspects.ts";
import { UniqueKeys } from "./unique-keys.ts";

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [ZERO, NINE] = [0x30, 0x39];

/**
 * Masks the strings, keys and numbers of a JSON text where they stand. What is not masked stays as it
 * was written, to the last digit of a number; and nothing is recursive, however deep the text is.
 *
 * @param mask Gives back what it is given where nothing is to be masked.
 * @throws SyntaxError where a string is none.
 */
export function maskJson(json: string, mask: (text: string) => string, suspects: Suspects): string {
  const edit = new JsonEdit(json, mask, suspects);
  edit.run();
  return edit.text;
}

class JsonEdit {
  readonly #source: string;
  readonly #mask: (text: string) => string;
  readonly #suspects: Suspects;
  #out = "";
  #copied = 0;
  /** For each open level whether it is an object, where its keys begin, and their names once masked. */
  readonly #isObject: boolean[] = [];
  readonly #firstKey: number[] = [];
  readonly #names: (UniqueKeys | undefined)[] = [];
  /** Where the keys of all open objects begin and end. */
  readonly #keys: number[] = [];
  #isKeyNext = false;

  constructor(source: string, mask: (text: string) => string, suspects: Suspects) {
    this.#source = source;
    this.#mask = mask;
    this.#suspects = suspects;
  }

  get text(): string {
    return this.#out + this.#source.slice(this.#copied);
  }

  run(): void {
    const source = this.#source;
    for (let at = 0; at < source.length; ) {
      const code = source.charCodeAt(at);
      if (code === QUOTE) at = this.#string(at);
      else if (code === MINUS || (code >= ZERO && code <= NINE)) at = this.#number(at);
      else {
        if (code === OPEN_OBJECT || code === OPEN_LIST) this.#open(code === OPEN_OBJECT);
        else if (code === CLOSE_OBJECT || code === CLOSE_LIST) this.#close();
        else if (code === COMMA) this.#isKeyNext = this.#isObject.at(-1) === true;
        else if (code === COLON) this.#isKeyNext = false;
        at++;
      }
    }
  }

  #open(isObject: boolean): void {
    this.#isKeyNext = isObject;
    this.#isObject.push(isObject);
    this.#firstKey.push(this.#keys.length);
    this.#names.push(undefined);
  }

  #close(): void {
    this.#isKeyNext = false;
    this.#isObject.pop();
    this.#names.pop();
    this.#keys.length = this.#firstKey.pop() ?? 0;
  }

  #string(at: number): number {
    const end = this.#endOf(at);
    const isKey = this.#isKeyNext;
    const isSuspect = this.#suspects.isFound(at, end) || this.#suspects.isDisguised(at, end);
    if (isSuspect || (isKey && this.#names.at(-1))) {
      const value = this.#valueOf(at, end);
      const masked = isSuspect ? this.#mask(value) : value;
      const now = isKey ? this.#nameOf(value, masked) : masked;
      if (now !== value) this.#replace(at, end, now);
    }
    if (isKey) this.#keys.push(at, end);
    return end;
  }

  /** The name of a field; its object's keys are only compared once one of them is masked. */
  #nameOf(key: string, masked: string): string {
    const level = this.#names.length - 1;
    let names = this.#names[level];
    if (!names) {
      if (masked === key) return key;
      names = new UniqueKeys(this.#keysOf(level));
      this.#names[level] = names;
    }
    return names.next(masked, masked !== key);
  }

  *#keysOf(level: number): Generator<string, void, undefined> {
    for (let i = this.#firstKey[level] as number; i < this.#keys.length; i += 2) {
      yield this.#valueOf(this.#keys[i] as number, this.#keys[i + 1] as number);
    }
  }

  #endOf(at: number): number {
    const source = this.#source;
    for (
      let quote = source.indexOf('"', at + 1);
      quote > 0;
      quote = source.indexOf('"', quote + 1)
    ) {
      let backslashes = 0;
      while (source.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
      if (backslashes % 2 === 0) return quote + 1;
    }
    throw new SyntaxError("a string of the JSON text does not end");
  }

  #valueOf(at: number, end: number): string {
    return JSON.parse(this.#source.slice(at, end));
  }

  #number(at: number): number {
    NUMBER.lastIndex = at;
    NUMBER.test(this.#source);
    const end = NUMBER.lastIndex;
    const { hasNumbers } = this.#suspects;
    if (!hasNumbers && !this.#suspects.isFound(at, end)) return end;
    const written = this.#source.slice(at, end);
    // A reader sees the number, not how it is written.
    const masked = hasNumbers ? this.#masked(String(Number(written))) : undefined;
    const now = masked ?? this.#masked(written);
    if (now !== undefined) this.#replace(at, end, now);
    return end;
  }

  #masked(text: string): string | undefined {
    const masked = this.#mask(text);
    return masked === text ? undefined : masked;
  }

  #replace(from: number, to: number, by: string): void {
    this.#out += this.#source.slice(this.#copied, from) + JSON.stringify(by);
    this.#copied = to;
  }
}

const NUMBER = /[-+.\deE]+/y;
