import { maskJson } from "./mask-json.ts";
import { FrameMask, type MaskStream } from "./mask-stream.ts";
import { maskValue } from "./mask-value.ts";
import { masked } from "./spans.ts";
import { ValueFinder } from "./value-finder.ts";

/**
 * Masks a set of values in everything that is read (RED-1), and whatever looks like a token of the
 * engine. It never changes: another set is another masker.
 */
export interface Masker {
  /** Without values only tokens are masked. */
  readonly isEmpty: boolean;
  text(text: string): string;
  /** The same, and how many parts of the text were masked. */
  textCounted(text: string): { readonly text: string; readonly count: number };
  /**
   * JSON text in, JSON text out: the same text where nothing is masked in its strings, keys and numbers.
   *
   * @throws SyntaxError for some texts that are no JSON; others come out as they are.
   */
  json(text: string): string;
  /** A value as `JSON.stringify` sees it; the value itself where nothing is masked in it. */
  value(value: unknown): unknown;
  /** How many texts, numbers and keys of a value are masked (EXE-88). */
  count(value: unknown): number;
  /** Masks what is split over frames that follow each other (RED-4). */
  stream<Frame extends { readonly value: unknown }>(): MaskStream<Frame>;
}

/** @param values Of any kind of secret, as `maskedValuesOf` gives them; shorter ones are left out. */
export function createMasker(values: Iterable<string>): Masker {
  const finder = new ValueFinder(values);
  const text = (text: string): string => {
    const spans = finder.find(text);
    return spans.length === 0 ? text : masked(text, spans);
  };
  return {
    isEmpty: finder.isEmpty,
    text,
    textCounted: (text) => {
      const spans = finder.find(text);
      return { text: masked(text, spans), count: spans.length / 2 };
    },
    json: (json) => {
      const suspects = finder.suspectsIn(json);
      return suspects ? maskJson(json, text, suspects) : json;
    },
    value: (value) => maskValue(value, text).value,
    count: (value) => maskValue(value, text).count,
    stream: () => new FrameMask(finder),
  };
}
