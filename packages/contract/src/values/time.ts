// `Date` is denied in this package because nothing here may ask for the current time. Turning a
// given instant into text and back needs it, so these functions are the one place that uses it.

/** Many executions write in the same millisecond. */
let newest = { ms: Number.NaN, text: "" };

/** An event's `time`: UTC, `YYYY-MM-DD HH:MM:SS.mmm` (EXE-23). */
export function formatEventTime(ms: number): string {
  if (ms !== newest.ms) newest = { ms, text: formatInstant(ms).slice(0, 23).replace("T", " ") };
  return newest.text;
}

/** Milliseconds since 1970 of an event's `time`, or NaN. */
export function parseEventTime(text: string): number {
  const ofDay = text.length === 23 ? millisecondsOfDay(text) : Number.NaN;
  // A text of another form may still be an instant.
  if (Number.isNaN(ofDay)) return parseInstant(`${text.replace(" ", "T")}Z`);
  const day = text.slice(0, 10);
  if (day !== knownDay) [knownDay, knownMidnight] = [day, parseInstant(`${day}T00:00:00Z`)];
  return knownMidnight + ofDay;
}

/** Every event is read, and nearly all are of one day. */
let knownDay = "";
let knownMidnight = Number.NaN;

/** Of ` HH:MM:SS.mmm`, which begins at character 10; NaN where a digit is none or too much. */
function millisecondsOfDay(text: string): number {
  const isShaped = text[10] === " " && text[13] === ":" && text[16] === ":" && text[19] === ".";
  if (!isShaped) return Number.NaN;
  const [hours, minutes, seconds] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  if (hours > 23 || minutes > 59 || seconds > 59) return Number.NaN;
  const milliseconds = digit(text, 20) * 100 + twoDigits(text, 21);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
}

function twoDigits(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 48;
  return value >= 0 && value <= 9 ? value : Number.NaN;
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

const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,3})\d*)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/**
 * Milliseconds since 1970 of an ISO 8601 instant that a person wrote, or NaN; without an offset it is
 * UTC (EXE-73). `Date.parse` would take `1` for a day of 2001 and 30 February for one of March.
 */
export function parseUtcInstant(text: string): number {
  const match = INSTANT.exec(text.trim());
  if (!match) return Number.NaN;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
  if (hour > 23 || minute > 59 || second > 59) return Number.NaN;
  const ms = Number((match[7] ?? "").padEnd(3, "0"));
  // biome-ignore lint/style/noRestrictedGlobals: turns an instant it was given into a number
  const date = Date.UTC(year, month - 1, day);
  // A day that the month has not would silently become one of the next.
  if (formatInstant(date).slice(0, 10) !== match.slice(1, 4).join("-")) return Number.NaN;
  return date + ((hour * 60 + minute - offsetMinutes(match[8])) * 60 + second) * 1000 + ms;
}

function offsetMinutes(text: string | undefined): number {
  if (text === undefined || /^z$/i.test(text)) return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(-2))];
  if (hours > 14 || minutes > 59) return Number.NaN;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
