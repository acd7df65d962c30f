import type { Json } from "@engine/contract";

/** A shorter text or number is not masked: it would be found all over the place (RED-1). */
export const SHORTEST_MASKED = 8;

/**
 * What of a secret is masked wherever it shows (RED-1): each text of 8 or more characters and each
 * number of 8 or more digits, once, without its sign. Names of fields are no values, and neither is a
 * text of nothing but white space.
 */
export function maskedValuesOf(secret: Json): readonly string[] {
  const values = new Set<string>();
  // Not recursive: what is nested deeper than the stack is masked, too.
  const open: Json[] = [secret];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === "string") {
      if (value.length >= SHORTEST_MASKED && value.trim() !== "") values.add(value);
    } else if (typeof value === "number") {
      const text = String(Math.abs(value));
      if (digitsOf(text) >= SHORTEST_MASKED) values.add(text);
    } else if (typeof value === "object" && value !== null) {
      const parts = Object.values(value);
      for (let i = parts.length - 1; i >= 0; i--) open.push(parts[i] as Json);
    }
  }
  return [...values];
}

/** Those of an exponent say how large it is, and would not be looked for. */
function digitsOf(number: string): number {
  return number.replace(/e.*|\D/g, "").length;
}
