import * as z from "zod";
import type { Json } from "./value.ts";

/**
 * Any JSON value, taken as it is. Use it for what `JSON.parse` or the value codec made, which
 * cannot be anything else: `z.json()` would copy the value at five times the cost of parsing the
 * text, and drop keys named `__proto__` without a word.
 */
export const AnyJson: z.ZodType<Json, Json> = z.custom<Json>((value) => value !== undefined, {
  error: "expected a JSON value, which is missing",
});
