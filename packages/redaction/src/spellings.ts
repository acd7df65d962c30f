import { SHORTEST_MASKED } from "./masked-values.ts";

/** A text that is looked for as it is: a masked value, trimmed or not, or a line of one (RED-1). */
export interface Spelling {
  readonly text: string;
  readonly isLine: boolean;
}

export function* spellingsOf(value: string): Generator<Spelling, void, undefined> {
  yield* wholeAndTrimmed(value, false);
  if (!/[\r\n]/.test(value)) return;
  for (const line of value.split(/\r\n|\r|\n/)) yield* wholeAndTrimmed(line, true);
}

function* wholeAndTrimmed(text: string, isLine: boolean): Generator<Spelling, void, undefined> {
  const trimmed = text.trim();
  if (text.length < SHORTEST_MASKED || trimmed === "") return;
  yield { text, isLine };
  if (trimmed.length >= SHORTEST_MASKED && trimmed !== text) yield { text: trimmed, isLine };
}

/** A text and, once they are asked for, its bytes behind two others. */
class Written {
  readonly text: string;
  #bytes: Buffer | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(`\0\0${this.text}`);
    return this.#bytes;
  }
}

/** Writes a text in another form, so that the form of its beginning is the beginning of its form. */
type Form = (written: Written) => string;

const raw: Form = ({ text }) => text;
const hex: Form = ({ bytes }) => bytes.toString("hex", 2);
const upperHex: Form = (written) => hex(written).toUpperCase();
const jsonEscaped: Form = ({ text }) => JSON.stringify(text).slice(1, -1);

/**
 * Three bytes are four characters of base64, so what a text becomes depends on how many bytes are
 * before it. Characters that a neighbour has bits of are left out at both ends.
 */
function base64(encoding: "base64" | "base64url", before: 0 | 1 | 2): Form {
  const from = before === 0 ? 0 : before + 1;
  return ({ bytes }) => {
    const to = Math.floor(((bytes.length - 2 + before) * 8) / 6);
    return bytes.toString(encoding, 2 - before).slice(from, to);
  };
}

const FORMS: readonly Form[] = [
  raw,
  hex,
  upperHex,
  base64("base64", 0),
  base64("base64", 1),
  base64("base64", 2),
  base64("base64url", 0),
  base64("base64url", 1),
  base64("base64url", 2),
  jsonEscaped,
];
/** The forms of a text are named by their place in a list, from 0 on. */
export const FORM_COUNT: number = FORMS.length;

const ALL: readonly number[] = FORMS.map((_, form) => form);
const RAW = ALL.slice(0, 1);
const UNESCAPED = ALL.slice(0, -1);
const RAW_AND_ESCAPED = [...RAW, ...ALL.slice(-1)];

/**
 * The forms in which a spelling is looked for: a line in no encoding, and no escaped form of what JSON
 * writes as it is. Other forms may be the same; finding that out would cost more than it saves.
 */
export function formsOf({ text, isLine }: Spelling): readonly number[] {
  const isEscaped = /["\\\p{Cc}]/u.test(text) || !text.isWellFormed();
  if (isLine) return isEscaped ? RAW_AND_ESCAPED : RAW;
  return isEscaped ? ALL : UNESCAPED;
}

/** How a text is written in a form. */
export function writtenAs(form: number, text: string): string {
  return (FORMS[form] as Form)(new Written(text));
}

/** How a text begins in each of these forms: at least with so many characters, if it has them. */
export function* startsOf(
  text: string,
  forms: readonly number[],
  length: number,
): Generator<string, void, undefined> {
  // Half a surrogate pair is encoded otherwise than the pair.
  const isSplit = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  const head = new Written(text.slice(0, isSplit ? length + 1 : length));
  for (const form of forms) yield (FORMS[form] as Form)(head);
}
