import { DecodedText } from "./decoded-text.ts";

/** Reads a text as something that was encoded; undefined where nothing in it looks like it. */
export type Decoding = (text: string) => DecodedText | undefined;

/** A text as a reader of JSON would read it, had it been between quotes; what is no escape stays. */
export const withoutEscapes: Decoding = (text) => {
  let at = text.indexOf("\\");
  if (at < 0) return undefined;
  const decoded = new DecodedText(text);
  while (at >= 0) {
    const letter = text.charAt(at + 1);
    const meant = letter === "u" ? codeUnit(text, at + 2) : ESCAPES.get(letter);
    const end = at + (letter === "u" && meant !== undefined ? 6 : 2);
    if (meant !== undefined) decoded.replace(at, end, meant);
    at = text.indexOf("\\", end);
  }
  return decoded.finish();
};

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...Array.from('"\\/', (letter) => [letter, letter] as const),
  ...Array.from("bfnrt", (letter, i) => [letter, "\b\f\n\r\t".charAt(i)] as const),
]);

/** A text with its percent-encoded bytes read as UTF-8; bytes that are none stay as they are. */
export const withoutPercents: Decoding = (text) => {
  let at = text.indexOf("%");
  if (at < 0) return undefined;
  let decoded: DecodedText | undefined;
  while (at >= 0) {
    const bytes = bytesOf(byte(text, at));
    const meant = bytes > 0 ? character(text, at, bytes) : undefined;
    if (meant !== undefined) {
      decoded ??= new DecodedText(text);
      decoded.replace(at, at + 3 * bytes, meant);
    }
    at = text.indexOf("%", at + (meant === undefined ? 1 : 3 * bytes));
  }
  return decoded?.finish();
};

/** The same of a form, where a space is a plus. */
export const withoutPluses: Decoding = (text) => {
  if (!text.includes("+")) return undefined;
  const spaced = text.replaceAll("+", " ");
  return withoutPercents(spaced) ?? new DecodedText(spaced).finish();
};

/** How many bytes the character has that begins with this one; 0 for none. */
function bytesOf(first: number): number {
  if (first < 0x80) return first < 0 ? 0 : 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

function character(text: string, at: number, bytes: number): string | undefined {
  let code = byte(text, at);
  if (bytes > 1) code &= 0x7f >> bytes;
  for (let i = 1; i < bytes; i++) {
    const next = byte(text, at + 3 * i);
    if ((next & 0xc0) !== 0x80) return undefined;
    code = (code << 6) | (next & 0x3f);
  }
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/** The byte of `%2F`; -1 for anything else. */
function byte(text: string, at: number): number {
  if (text.charCodeAt(at) !== 0x25) return -1;
  const [high, low] = [hexDigit(text.charCodeAt(at + 1)), hexDigit(text.charCodeAt(at + 2))];
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function codeUnit(text: string, at: number): string | undefined {
  let code = 0;
  for (let i = at; i < at + 4; i++) {
    const digit = hexDigit(text.charCodeAt(i));
    if (digit < 0) return undefined;
    code = code * 16 + digit;
  }
  return String.fromCharCode(code);
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
