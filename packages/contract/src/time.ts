// `Date` is denied in this package because nothing here may ask for the current time. Turning a
// given instant into text and back needs it, so these functions are the one place that uses it.

/** Many executions write in the same millisecond. */
let newest = { ms: Number.NaN, text: "" };

/** An event's `time`: UTC, `YYYY-MM-DD HH:MM:SS.mmm` (EXE-23). */
export function formatEventTime(ms: number): string {
  if (ms !== newest.ms) newest = { ms, text: formatInstant(ms).slice(0, 23).replace("T", " ") };
  return newest.text;
}

/** Milliseconds since 1970 of an event's `time`. */
export function parseEventTime(text: string): number {
  return parseInstant(`${text.replace(" ", "T")}Z`);
}

/** ISO 8601 with milliseconds and `Z`: every instant but an event's `time`. */
export function formatInstant(ms: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: formats an instant it was given
  return new Date(ms).toISOString();
}

/** Milliseconds since 1970, or NaN. */
export function parseInstant(text: string): number {
  // biome-ignore lint/style/noRestrictedGlobals: parses an instant it was given
  return Date.parse(text);
}

/** The same of a text that is UTC unless it has an offset (EXE-73). */
export function parseUtcInstant(text: string): number {
  return parseInstant(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
}
