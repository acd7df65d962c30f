/** JSON on one line while it is short, else indented. */
export function valueText(value: unknown): string {
  const short = JSON.stringify(value) ?? "null";
  return short.length <= 80 ? short : JSON.stringify(value, null, 2);
}

/** JSON on one line, cut to a width with the cut marked. */
export function valueLine(value: unknown, width: number): string {
  const text = JSON.stringify(value) ?? "null";
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1))}…`;
}

/** A value as one word of a shell command. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
