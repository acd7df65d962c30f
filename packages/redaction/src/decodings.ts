/**
 * Reads the encoded character of a text that begins at a place: 16 times its code point, plus how many
 * characters of the text it takes. 0 if there is none.
 */
type Read = (text: string, at: number) => number;

/** A text in which encoded characters were read, and where it came from. */
export interface Decoded {
  readonly text: string;
  /** Where places of this text are in what it came from; ordered, as they have to be. */
  sourcesOf(places: readonly number[]): number[];
}

/** Undefined where nothing in a text is encoded. */
export type Decoding = (text: string) => Decoded | undefined;

const [BACKSLASH, PERCENT, PLUS] = [0x5c, 0x25, 0x2b];

/** A text as a reader of JSON would read it, had it been between quotes; what is no escape stays. */
export const withoutEscapes: Decoding = (text) =>
  text.includes("\\") ? decoded(text, BACKSLASH, readEscape) : undefined;

/** A text with its percent-encoded bytes read as UTF-8; bytes that are none stay as they are. */
export const withoutPercents: Decoding = (text) =>
  text.includes("%") ? decoded(text, PERCENT, readPercents) : undefined;

/** The same of a form, where a space is a plus. */
export const withoutPluses: Decoding = (text) =>
  text.includes("+") ? decoded(text, PERCENT, readPercents, PLUS) : undefined;

/** @param space A character that stands for a space. */
function decoded(text: string, sign: number, read: Read, space?: number): Decoded | undefined {
  const units = new Uint16Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const found = code === sign ? read(text, at) : 0;
    if (found === 0) {
      units[length++] = code === space ? 0x20 : code;
      at++;
    } else {
      const point = found >>> 4;
      if (point > 0xffff) units[length++] = 0xd7c0 + (point >>> 10);
      units[length++] = point > 0xffff ? 0xdc00 + (point & 0x3ff) : point;
      at += found & 15;
    }
  }
  if (length === text.length && space === undefined) return undefined;
  return {
    text: Buffer.from(units.buffer, 0, 2 * length).toString("utf16le"),
    // Read again, since there is seldom anything to ask for.
    sourcesOf: (places) => {
      const sources: number[] = [];
      let place = 0;
      for (let at = 0; sources.length < places.length; ) {
        while (place >= (places[sources.length] as number)) sources.push(at);
        const found = text.charCodeAt(at) === sign ? read(text, at) : 0;
        place += found >>> 4 > 0xffff ? 2 : 1;
        at += found === 0 ? 1 : found & 15;
      }
      return sources;
    },
  };
}

const readEscape: Read = (text, at) => {
  const letter = text.charCodeAt(at + 1);
  if (letter !== 0x75) {
    const meant = MEANT.get(letter);
    return meant === undefined ? 0 : meant * 16 + 2;
  }
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) {
    const digit = hexDigit(text.charCodeAt(i));
    if (digit < 0) return 0;
    unit = unit * 16 + digit;
  }
  return unit * 16 + 6;
};

const MEANT: ReadonlyMap<number, number> = new Map(
  Array.from('""\\\\//b\bf\fn\nr\rt\t'.matchAll(/(.)(.)/gs), ([, letter = "", meant = ""]) => [
    letter.charCodeAt(0),
    meant.charCodeAt(0),
  ]),
);

const readPercents: Read = (text, at) => {
  const first = byte(text, at);
  if (first < 0) return 0;
  if (first < 0x80) return first * 16 + 3;
  if (first < 0xc2 || first > 0xf4) return 0;
  const bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  let point = first & (0x7f >> bytes);
  for (let i = 1; i < bytes; i++) {
    const next = byte(text, at + 3 * i);
    if ((next & 0xc0) !== 0x80) return 0;
    point = (point << 6) | (next & 0x3f);
  }
  return point > 0x10ffff ? 0 : point * 16 + 3 * bytes;
};

/** The byte of `%2F`; -1 for anything else. */
function byte(text: string, at: number): number {
  if (text.charCodeAt(at) !== PERCENT) return -1;
  const [high, low] = [hexDigit(text.charCodeAt(at + 1)), hexDigit(text.charCodeAt(at + 2))];
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
