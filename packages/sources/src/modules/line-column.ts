/** Where an offset lies in a source text: line and column from 1, columns in UTF-16 units. */
export interface LineColumn {
  line: number;
  column: number;
}

/** Finds lines by binary search, so that a file with many issues is scanned once. */
export function lineColumns(source: string): (offset: number) => LineColumn {
  const starts = [0];
  for (const { index, 0: end } of source.matchAll(/\r\n|\n|\r/g)) starts.push(index + end.length);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
