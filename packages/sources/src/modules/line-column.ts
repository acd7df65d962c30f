/** Where an offset lies in a source text: line and column from 1, columns in UTF-16 units. */
export interface LineColumn {
  line: number;
  column: number;
}

/** Keeps where lines begin, so that a file with many issues is scanned once. */
export function lineColumns(source: string): (offset: number) => LineColumn {
  const starts = [0];
  for (const { index, 0: end } of source.matchAll(/\r\n|\n|\r/g)) starts.push(index + end.length);
  return (offset) => {
    const line = countUpTo(starts, offset, (start) => start);
    return { line, column: offset - (starts[line - 1] ?? 0) + 1 };
  };
}

/** How many things in order lie at an offset or before it, found by binary search. */
export function countUpTo<Thing>(
  things: readonly Thing[],
  offset: number,
  at: (thing: Thing) => number,
): number {
  let low = 0;
  let high = things.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(things[middle] as Thing) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
