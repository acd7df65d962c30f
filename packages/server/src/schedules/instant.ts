const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,3})\d*)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Milliseconds since 1970 of an ISO 8601 instant; without an offset it is UTC (EXE-73). */
export function instantOf(text: string): number | undefined {
  const match = INSTANT.exec(text.trim());
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const ms = Number((match[7] ?? "").padEnd(3, "0"));
  const date = Date.UTC(year, month - 1, day);
  // A day that the month has not would silently become one of the next.
  if (new Date(date).getUTCMonth() !== month - 1 || day === 0) return undefined;
  const offset = offsetMinutes(match[8]);
  if (offset === undefined) return undefined;
  return date + ((hour * 60 + minute - offset) * 60 + second) * 1000 + ms;
}

function offsetMinutes(text: string | undefined): number | undefined {
  if (text === undefined || /^z$/i.test(text)) return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(-2))];
  if (hours > 14 || minutes > 59) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
