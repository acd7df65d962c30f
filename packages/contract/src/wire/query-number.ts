/**
 * Numbers in the text of a query or a header. `z.coerce.number()` would take everything that
 * JavaScript takes for a number: nothing, spaces, `0x10`, `true`, an instant, a list of one.
 */
import * as z from "zod";

const WHOLE = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** A whole number as people write it; `+1`, `1.0`, `1e3` and `0x10` are none. */
export function wholeNumber({ min, max }: { readonly min?: number; readonly max?: number }) {
  let number = z.int(expected("a whole number"));
  if (min !== undefined) number = number.min(min);
  if (max !== undefined) number = number.max(max);
  return z.preprocess((text: number | string) => numberOf(text, WHOLE), number);
}

/** A number as people write it, with or without a fraction. */
export function decimalNumber({ min, above }: { readonly min?: number; readonly above?: number }) {
  let number = z.number(expected("a number"));
  if (min !== undefined) number = number.min(min);
  if (above !== undefined) number = number.gt(above);
  return z.preprocess((text: number | string) => numberOf(text, DECIMAL), number);
}

/** What is no number stays as it came, for the refusal to show. */
function numberOf(text: unknown, pattern: RegExp): unknown {
  return typeof text === "string" && pattern.test(text) ? Number(text) : text;
}

/** Of a text that is no number; bounds have their own words. */
function expected(what: string) {
  return {
    error: ({ code, input }: { readonly code?: string; readonly input?: unknown }) => {
      if (code !== "invalid_type") return undefined;
      return input === undefined ? `expected ${what}, which is missing` : `expected ${what}`;
    },
  };
}
