import stringWidth from "string-width";
import { oneLine } from "./harmless.ts";
import type { Paint } from "./paint.ts";

const GAP = 3;
const NARROW_GAP = 2;

interface Fit {
  /** Width of the terminal. */
  readonly columns: number;
  /** Columns whose texts may be cut where it is too narrow, each with the least width it keeps. */
  readonly shrink: ReadonlyMap<number, number>;
}

/** Aligned columns under small headings, without lines. Each row is one line. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
  fit?: Fit,
): string {
  const cells = [head, ...rows.map((row) => row.map(cellOf))];
  const natural = head.map((_, column) =>
    Math.max(...cells.map((row) => stringWidth(row[column] ?? ""))),
  );
  const isTooWide = fit !== undefined && total(natural, GAP) > fit.columns;
  const gap = isTooWide ? NARROW_GAP : GAP;
  const widths = isTooWide ? shrunk(natural, fit) : natural;
  return lines(
    cells.map((row, index) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          const text = stringWidth(cell) > width ? cut(cell, width) : cell;
          const space = " ".repeat(width + gap - stringWidth(text));
          return (index === 0 ? paint("muted", text) : text) + space;
        })
        .join("")
        .trimEnd(),
    ),
  );
}

function total(widths: readonly number[], gap: number): number {
  return widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));
}

/** Narrows the widest of the columns that may shrink, until the table fits or no column may. */
function shrunk(natural: readonly number[], { columns, shrink }: Fit): number[] {
  const widths = [...natural];
  const spare = (column: number) => (widths[column] ?? 0) - (shrink.get(column) ?? 0);
  for (let over = total(widths, NARROW_GAP) - columns; over > 0; over--) {
    const [widest] = [...shrink.keys()]
      .filter((column) => spare(column) > 0)
      .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

const graphemes = new Intl.Segmenter();

/** A text without styles in so many columns, with the cut marked. */
function cut(text: string, width: number): string {
  let shown = "";
  let taken = 1;
  for (const { segment } of graphemes.segment(text)) {
    taken += stringWidth(segment);
    if (taken > width) break;
    shown += segment;
  }
  return `${shown}…`;
}

/** A tab has no width of its own. */
function cellOf(text: string): string {
  return oneLine(text).replaceAll("\t", "\\t");
}

/** Indented `label  value` lines; values that are undefined are left out. */
export function fields(
  paint: Paint,
  pairs: readonly (readonly [string, string | undefined])[],
): string {
  const present = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return lines(
    present.flatMap(([name, value]) => {
      const [first = "", ...rest] = value.split(/\r?\n/);
      const below = rest.map((line) => `${" ".repeat(width + 5)}${line}`);
      return [`  ${paint("muted", name.padEnd(width))}   ${first}`, ...below];
    }),
  );
}

/** A line, and below it what `fields` prints. */
export function titled(
  paint: Paint,
  title: string,
  pairs: readonly (readonly [string, string | undefined])[],
): string {
  return lines([title]) + fields(paint, pairs);
}

/** Each text becomes one line, also a text with line breaks. */
export function lines(texts: readonly string[]): string {
  return texts.map((text) => `${oneLine(text)}\n`).join("");
}
