/** A length of time: milliseconds, or a number with a unit such as `"1.5s"` (EXE-3). */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const TEXT = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** The longest, 365000d: what ends behind it has no date. */
const LONGEST_MS = 365_000 * UNIT_MS.d;

/** Milliseconds of a duration; undefined for anything else, a negative or endless one included. */
export function parseDuration(value: unknown): number | undefined {
  // -0 is taken, as the 0 that it is written as.
  if (typeof value === "number")
    return value >= 0 && value <= LONGEST_MS ? Math.abs(value) : undefined;
  if (typeof value !== "string") return undefined;
  const [, amount, unit] = TEXT.exec(value) ?? [];
  if (amount === undefined) return undefined;
  const ms = Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return ms <= LONGEST_MS ? ms : undefined;
}
