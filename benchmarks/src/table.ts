export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A table as text: the first column to the left, figures to the right. */
export function renderTable({ title, columns, rows }: Table): string {
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ");
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [title, line(columns), rule, ...rows.map(line)].join("\n");
}

/** Milliseconds with as many digits as they deserve. */
export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
}

export function micro(microseconds: number): string {
  return `${microseconds.toFixed(0)} µs`;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
