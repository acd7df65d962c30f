/**
 * What is given by both of two lists of grants, as a list again: what a key holds that is narrower than
 * its principal (AUTH-13), to be shown.
 */
export function commonGrants(
  some: readonly string[],
  others: readonly string[],
): readonly string[] {
  const common = some.flatMap((one) => others.map((other) => commonGrant(one, other)));
  return [...new Set(common.filter((grant) => grant !== undefined))].sort();
}

/** Undefined where nothing is given by both. */
function commonGrant(one: string, other: string): string | undefined {
  const [a, b] = [one.split(":"), other.split(":")];
  const isFirst = fixed(a) < fixed(b) || (fixed(a) === fixed(b) && isOpen(a));
  const [short, long] = isFirst ? [a, b] : [b, a];
  const isCovered = isOpen(short) || (short.length === long.length && !isOpen(long));
  if (!isCovered) return undefined;
  const common = long.map((segment, i) => {
    if (i >= fixed(short) || short[i] === "*") return segment;
    return segment === "*" || segment === short[i] ? short[i] : undefined;
  });
  return common.includes(undefined) ? undefined : common.join(":");
}

/** `*` at the end is any number of segments. */
function isOpen(segments: readonly string[]): boolean {
  return segments.at(-1) === "*";
}

/** How many segments come before an open end. */
function fixed(segments: readonly string[]): number {
  return isOpen(segments) ? segments.length - 1 : segments.length;
}
