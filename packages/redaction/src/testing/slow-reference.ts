/** What masking has to come to, said in the simplest way, without a thought for speed. */
import { MASK } from "../spans.ts";

/** All that is looked for because of a value, written out. */
export function patternsOf(value: string): string[] {
  const lines = value.split(/\r\n|\r|\n/);
  const raw = [value, value.trim(), ...lines, ...lines.map((line) => line.trim())];
  const isLong = (text: string) => text.length >= 8 && text.trim() !== "";
  const encoded = [value, value.trim()].filter(isLong).flatMap((text) => {
    const hex = Buffer.from(text).toString("hex");
    return [hex, hex.toUpperCase(), ...base64Of(text)];
  });
  const escaped = raw.filter(isLong).map((text) => JSON.stringify(text).slice(1, -1));
  return [...new Set([...raw, ...escaped, ...encoded])].filter(isLong);
}

/** What base64 is made of a text alone, whatever bytes are around it. */
function base64Of(text: string): string[] {
  const between = (bytes: number, other: number) =>
    Buffer.concat([Buffer.alloc(bytes, other), Buffer.from(text), Buffer.alloc(3, other)]);
  return [0, 1, 2].flatMap((bytes) =>
    (["base64", "base64url"] as const).map((encoding) => {
      const zeros = between(bytes, 0).toString(encoding);
      const ones = between(bytes, 255).toString(encoding);
      // Where the bits around it differ, so do all characters that have one of them.
      const alone = Array.from(zeros, (letter, i) => (letter === ones[i] ? letter : "")).join("");
      return alone.replace(/=+$/, "");
    }),
  );
}

/** Where the patterns are in a text; what overlaps is one. */
export function slowSpans(patterns: readonly string[], text: string): [number, number][] {
  const found: [number, number][] = [];
  for (const pattern of patterns) {
    for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1)) {
      found.push([at, at + pattern.length]);
    }
  }
  found.sort((a, b) => a[0] - b[0]);
  const united: [number, number][] = [];
  for (const [start, end] of found) {
    const last = united.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else united.push([start, end]);
  }
  return united;
}

export function slowMask(patterns: readonly string[], text: string): string {
  let masked = text;
  for (const [start, end] of slowSpans(patterns, text).reverse()) {
    masked = masked.slice(0, start) + MASK + masked.slice(end);
  }
  return masked;
}

/** A value of JSON, masked; the numbers of keys that become equal are counted from the left. */
export function slowMaskValue(patterns: readonly string[], value: unknown): unknown {
  if (typeof value === "string") return slowMask(patterns, value);
  if (typeof value === "number") {
    const masked = slowMask(patterns, String(value));
    return masked === String(value) ? value : masked;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => slowMaskValue(patterns, item));
  const fields = new Map<string, unknown>();
  for (const [key, item] of Object.entries(value)) {
    const masked = slowMask(patterns, key);
    let name = masked;
    for (let n = 2; fields.has(name); n++) name = `${masked}#${n}`;
    fields.set(name, slowMaskValue(patterns, item));
  }
  return Object.fromEntries(fields);
}
