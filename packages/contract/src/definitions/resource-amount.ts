const UNIT_BYTES = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
} as const;
/** What {@link parseResourceAmount} takes, in words that follow "must be" or "expected". */
export const RESOURCE_AMOUNT =
  'bytes, or a number with B, KB, MB, GB, TB or KiB, MiB, GiB, TiB such as "16GiB"';

const TEXT = /^(\d+(?:\.\d+)?) ?([KMGT]i?B|B)$/;

/** The bytes of an amount: a whole number, or text such as `"16GiB"`; else undefined (RES-1). */
export function parseResourceAmount(value: unknown): number | undefined {
  // -0 is taken, as the 0 that it is written as.
  if (typeof value === "number")
    return Number.isSafeInteger(value) && value >= 0 ? Math.abs(value) : undefined;
  if (typeof value !== "string") return undefined;
  const [, amount, unit] = TEXT.exec(value) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Math.round(Number(amount) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES]);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
