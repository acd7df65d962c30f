/** Equal values have equal digests, whatever shares what in them; others hardly ever. */
export function digest(value: unknown): string {
  const text = describe(value);
  let [a, b] = [0x811c9dc5, 0x01234567];
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x01000197);
  }
  return `${(a >>> 0).toString(16)}.${(b >>> 0).toString(16)}`;
}

function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Date) return `date ${value.getTime()}`;
  if (value instanceof Error) return `error ${value.name} ${value.message}`;
  if (Array.isArray(value)) return `[${value.map(describe).join()}]`;
  if (value instanceof Map) return `map ${describe([...value])}`;
  if (value instanceof Set) return `set ${describe([...value])}`;
  return `{${Object.entries(value).map(describe).join()}}`;
}
