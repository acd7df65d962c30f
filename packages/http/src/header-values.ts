/**
 * All values of a header in the order in which they came, where an object of headers has them joined.
 *
 * @param raw Names and values by turns, as Node reads them.
 * @param name In lower case.
 */
export function headerValues(raw: readonly string[], name: string): readonly string[] {
  return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);
}
