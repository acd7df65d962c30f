import * as z from "zod";

/** Text of people, which every database takes: PostgreSQL has no U+0000 in texts. */
export function storableText(longest: number) {
  return z
    .string()
    .max(longest)
    .refine((text) => !text.includes("\u0000"), "must not contain the character U+0000");
}
