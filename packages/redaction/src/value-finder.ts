import { type Decoding, withoutEscapes, withoutPercents, withoutPluses } from "./decodings.ts";
import { findTokens, openToken } from "./engine-tokens.ts";
import { PatternSet } from "./pattern-set.ts";
import { NO_SPANS, type Spans, united } from "./spans.ts";
import { type Disguise, Suspects } from "./suspects.ts";
import { WINDOW } from "./window-table.ts";

/** How often a text is read as something encoded, one within the other. */
const LEVELS = 2;

/**
 * Finds what is masked in a text: values in the forms that have one spelling each, which are patterns;
 * in those that have many, as strings of JSON and percent-encoding have, which are read back first; and
 * tokens of the engine (RED-1).
 */
export class ValueFinder {
  readonly isEmpty: boolean;
  readonly #hasNumbers: boolean;
  readonly #hasSpaces: boolean;
  readonly #patterns: PatternSet;
  readonly #decodings: readonly Decoding[];

  constructor(values: Iterable<string>) {
    this.#patterns = new PatternSet(values);
    const { spellings } = this.#patterns;
    this.isEmpty = spellings.length === 0;
    this.#hasNumbers = spellings.some((text) => /^[\d.eE+-]+$/.test(text));
    this.#hasSpaces = spellings.some((text) => text.includes(" "));
    this.#decodings = [withoutEscapes, withoutPercents];
    if (this.#hasSpaces) this.#decodings = [...this.#decodings, withoutPluses];
  }

  /** Parts of a text that are masked, in order and apart from each other. */
  find(text: string): readonly number[] {
    if (text.length < WINDOW) return NO_SPANS;
    const tokens = findTokens(text);
    if (this.isEmpty) return tokens;
    const values = this.#find(text, LEVELS);
    return tokens.length === 0 ? values : united([...tokens, ...values]);
  }

  #find(text: string, levels: number): readonly number[] {
    const plain = this.#patterns.find(text);
    if (levels === 0) return plain;
    let all: Spans | undefined;
    for (const decode of this.#decodings) {
      const decoded = decode(text);
      if (!decoded) continue;
      const inside = this.#find(decoded.text, levels - 1);
      if (inside.length === 0) continue;
      all ??= [...plain];
      for (const place of decoded.sourcesOf(inside)) all.push(place);
    }
    return all ? united(all) : plain;
  }

  /**
   * Where a JSON text may hold what is masked; undefined if it does not. That costs less than reading
   * it, and most texts are never read.
   */
  suspectsIn(json: string): Suspects | undefined {
    const tokens = findTokens(json);
    if (this.isEmpty) {
      if (tokens.length === 0 && !json.includes("\\u")) return undefined;
      return new Suspects(json, tokens, ["\\"], false);
    }
    const values = this.#patterns.find(json);
    const disguises: Disguise[] = [];
    // Other escapes are those of the patterns: there is but one of each.
    if (json.includes("\\") && /\\[\\/u]/.test(json)) disguises.push("\\");
    if (json.includes("%") && /%[\da-f]{2}/i.test(json)) disguises.push("%");
    if (this.#hasSpaces && json.includes("+")) disguises.push("+");
    const hasNumbers = this.#hasNumbers && OTHER_NUMBER.test(json);
    const isClear = values.length + tokens.length + disguises.length === 0 && !hasNumbers;
    return isClear
      ? undefined
      : new Suspects(json, united([...tokens, ...values]), disguises, hasNumbers);
  }

  /**
   * Where the end of a text begins that a masked value may begin with, once more of the text is known;
   * its length for nowhere (RED-4).
   */
  openFrom(text: string): number {
    const token = openToken(text);
    return this.isEmpty ? token : Math.min(token, this.#openFrom(text, LEVELS));
  }

  #openFrom(text: string, levels: number): number {
    let open = this.#patterns.openFrom(text);
    // The last character may be half there: without it, the rest may begin a value.
    const whole = text.length - (CUT.exec(text.slice(-LONGEST_CUT))?.[0].length ?? 0);
    if (whole < text.length) {
      const before = this.#patterns.openFrom(text.slice(0, whole));
      if (before < whole) open = Math.min(open, before);
    }
    if (levels === 0) return open;
    for (const decode of this.#decodings) {
      const decoded = decode(text);
      if (!decoded) continue;
      const inside = this.#openFrom(decoded.text, levels - 1);
      if (inside < decoded.text.length) open = Math.min(open, ...decoded.sourcesOf([inside]));
    }
    return open;
  }
}

/** A number that its reader may write in another way: the exponent, the last zero, or too many digits. */
const OTHER_NUMBER = /(?:^|[[:,\s])-?(?:\d+(?:\.\d+)?e|\d+\.\d*0(?![\d.])|[\d.]{16})/i;
/** The end of a text that is a part of one character in an encoding, and was not decoded for that. */
const CUT = /(?:(?:%[\da-f]{0,2}){1,4}|\\(?:u[\da-f]{0,3})?)$/i;
const LONGEST_CUT = 12;
