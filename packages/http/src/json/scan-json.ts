import { isUtf8 } from "node:buffer";
import { EngineError } from "@engine/contract";

/** How deep a body may be nested (NET-1). */
export const MAX_DEPTH = 128;

/** What is known of a JSON text without its values having been made. */
export interface Scanned {
  /** How many values it holds, the lists and objects themselves included. */
  readonly values: number;
  readonly depth: number;
  /** Whether an object in it has a key `__proto__`, which the log cannot keep. */
  readonly hasProto: boolean;
  /** Its only key, if it is an object with one. */
  readonly onlyKey: string | undefined;
  /** If it is an object: its fields that are large, with where their values begin and end. */
  readonly large: readonly LargeField[];
}

export interface LargeField {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/**
 * A longer text is scanned on a thread: below, it holds the loop for a few milliseconds at most.
 */
export const LARGE_BYTES: number = 64 * 1024;

/**
 * Reads a JSON text without making a value of it: a few bytes can stand for a small object each, and
 * sixteen megabytes of those take a second and half a gigabyte to build. It accepts what `JSON.parse`
 * accepts, down to a depth that nothing recursive minds.
 *
 * @throws EngineError `bad_request` with the place where it is no JSON.
 */
export function scanJson(bytes: Uint8Array): Scanned {
  if (!isUtf8(bytes)) throw new EngineError("bad_request", "the body is not UTF-8 text");
  const scan = new Scan(bytes);
  if (scan.run()) return scan;
  throw scan.expected === undefined ? tooDeep(scan.at) : notJson(bytes, scan);
}

/**
 * The refusal of a text that `JSON.parse` does not read. `JSON.parse` names the place only for some
 * mistakes, and in words that change with the runtime.
 */
export function unreadable(bytes: Uint8Array): EngineError {
  const scan = new Scan(bytes);
  scan.run();
  return notJson(bytes, scan);
}

function notJson({ buffer, byteOffset }: Uint8Array, { at, expected }: Scan): EngineError {
  const before = Buffer.from(buffer, byteOffset, at).toString("utf8");
  const lines = before.split("\n");
  const [line, column] = [lines.length, (lines.at(-1)?.length ?? 0) + 1];
  const message = `the body is not JSON: expected ${expected} at line ${line}, column ${column}`;
  return new EngineError("bad_request", message, {
    details: { position: before.length, line, column },
  });
}

/** The refusal of a text that is deeper than anything recursive minds, from a place in its bytes. */
export function tooDeep(position: number): EngineError {
  return new EngineError("bad_request", `the body is nested deeper than ${MAX_DEPTH} levels`, {
    details: { position },
  });
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [MINUS, PLUS, DOT, ZERO, NINE] = [0x2d, 0x2b, 0x2e, 0x30, 0x39];
const LITERALS = new Map(["true", "false", "null"].map((text) => [text.charCodeAt(0), text]));
const PARTS_OF_SCALARS: ReadonlySet<number> = new Set(
  Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-"),
);
const PROTO = "__proto__";

class Scan implements Scanned {
  readonly #bytes: Uint8Array;
  /** For each open level 1 if it is an object, 0 if it is a list. */
  readonly #objects = new Uint8Array(MAX_DEPTH + 1);
  at = 0;
  values = 0;
  depth = 0;
  hasProto = false;
  /** What JSON allows where the text stops being it, in words; undefined where it is too deep. */
  expected: string | undefined;
  readonly large: LargeField[] = [];
  #topKeys = 0;
  #topKey: string | undefined;
  /** The key of the outermost object's field that is being read, and where its value begins. */
  #field = { start: 0, end: 0, value: 0 };

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get onlyKey(): string | undefined {
    return this.#topKeys === 1 ? this.#topKey : undefined;
  }

  /** Whether it is JSON and not too deep; otherwise `at` is where it stops. */
  run(): boolean {
    let level = 0;
    for (;;) {
      // A value begins here, after what may stand before it.
      this.#space();
      const byte = this.#bytes[this.at];
      this.values++;
      if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        level++;
        if (level > this.depth) this.depth = level;
        if (level > MAX_DEPTH) return false;
        const isObject = byte === OPEN_OBJECT;
        this.#objects[level] = isObject ? 1 : 0;
        this.at++;
        this.#space();
        if (this.#bytes[this.at] === (isObject ? CLOSE_OBJECT : CLOSE_LIST)) {
          this.at++;
          level--;
        } else {
          if (isObject && !this.#key(level)) return false;
          continue;
        }
      } else if (!this.#scalar(byte)) return false;
      // A value has ended: close what ends with it, or go on to the next.
      for (;;) {
        if (level === 1) this.#noteField();
        this.#space();
        if (level === 0) {
          return this.at === this.#bytes.length || this.#stop("the end of the body");
        }
        const isObject = this.#objects[level] === 1;
        const next = this.#bytes[this.at];
        if (next !== COMMA && next !== (isObject ? CLOSE_OBJECT : CLOSE_LIST)) {
          return this.#stop(`"," or "${isObject ? "}" : "]"}"`);
        }
        this.at++;
        if (next !== COMMA) {
          level--;
          continue;
        }
        this.#space();
        if (isObject && !this.#key(level)) return false;
        break;
      }
    }
  }

  #key(level: number): boolean {
    const start = this.at;
    if (this.#bytes[start] !== QUOTE || !this.#string()) {
      return this.#stop("a field name in double quotes");
    }
    const end = this.at;
    this.#note(start, end, level);
    this.#space();
    if (this.#bytes[this.at] !== COLON) return this.#stop('":"');
    this.at++;
    if (level === 1) this.#field = { start, end, value: this.at };
    return true;
  }

  #noteField(): void {
    const { start, end, value } = this.#field;
    if (this.#objects[1] !== 1 || this.at - value <= LARGE_BYTES) return;
    this.large.push({ key: this.#text(start, end), from: value, to: this.at });
  }

  /** @returns What a string says. */
  #text(start: number, end: number): string {
    const { buffer, byteOffset } = this.#bytes;
    return JSON.parse(Buffer.from(buffer, byteOffset + start, end - start).toString("utf8"));
  }

  #note(start: number, end: number, level: number): void {
    const isTop = level === 1 && this.#topKeys < 2;
    // With escapes it may be written in up to 56 bytes.
    const mayBeProto = end - start >= PROTO.length + 2 && end - start <= 6 * PROTO.length + 2;
    if (level === 1) this.#topKeys++;
    if (!isTop && !(mayBeProto && !this.hasProto && this.#looksProto(start))) return;
    const key = this.#text(start, end);
    if (key === PROTO) this.hasProto = true;
    if (isTop) this.#topKey = key;
  }

  #looksProto(start: number): boolean {
    const first = this.#bytes[start + 1];
    return first === 0x5f || first === BACKSLASH;
  }

  #stop(expected: string, at: number = this.at): false {
    this.expected = expected;
    this.at = at;
    return false;
  }

  #scalar(byte: number | undefined): boolean {
    if (byte === QUOTE) return this.#string() || this.#stop("a complete string");
    const start = this.at;
    const isRead = byte === MINUS || isDigit(byte) ? this.#number() : this.#literal(byte);
    // What continues a number or a word belongs to it, and makes it none.
    const isWhole = isRead && !PARTS_OF_SCALARS.has(this.#bytes[this.at] as number);
    return isWhole || this.#stop("a value", start);
  }

  #literal(byte: number | undefined): boolean {
    const literal = LITERALS.get(byte as number);
    if (literal === undefined) return false;
    for (let i = 0; i < literal.length; i++) {
      if (this.#bytes[this.at + i] !== literal.charCodeAt(i)) return false;
    }
    this.at += literal.length;
    return true;
  }

  #string(): boolean {
    const bytes = this.#bytes;
    for (let i = this.at + 1; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (byte === QUOTE) {
        this.at = i + 1;
        return true;
      }
      if (byte < 0x20) return false;
      if (byte !== BACKSLASH) continue;
      i++;
      if (bytes[i] === 0x75) {
        for (let digit = 1; digit <= 4; digit++) if (!isHex(bytes[i + digit])) return false;
        i += 4;
      } else if (!ESCAPES.has(bytes[i] as number)) return false;
    }
    return false;
  }

  #number(): boolean {
    if (this.#bytes[this.at] === MINUS) this.at++;
    if (this.#bytes[this.at] === ZERO) this.at++;
    else if (!this.#digits()) return false;
    if (this.#bytes[this.at] === DOT) {
      this.at++;
      if (!this.#digits()) return false;
    }
    const exponent = this.#bytes[this.at];
    if (exponent !== 0x65 && exponent !== 0x45) return true;
    this.at++;
    const sign = this.#bytes[this.at];
    if (sign === PLUS || sign === MINUS) this.at++;
    return this.#digits();
  }

  #digits(): boolean {
    const start = this.at;
    while (isDigit(this.#bytes[this.at])) this.at++;
    return this.at > start;
  }

  #space(): void {
    const bytes = this.#bytes;
    for (;;) {
      const byte = bytes[this.at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.at++;
    }
  }
}

const ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}
