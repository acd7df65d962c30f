import stringWidth from "string-width";
import { oneLine } from "./harmless.ts";
import type { Paint } from "./paint.ts";

const GAP = 3;

/** Aligned columns under small headings, without lines. Each row is one line. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string {
  const cells = [head.map((title) => paint("muted", title)), ...rows.map((row) => row.map(cellOf))];
  const widths = head.map((_, column) =>
    Math.max(...cells.map((row) => stringWidth(row[column] ?? ""))),
  );
  return lines(
    cells.map((row) =>
      row
        .map((cell, column) => padded(cell, (widths[column] ?? 0) + GAP))
        .join("")
        .trimEnd(),
    ),
  );
}

/** A tab has no width of its own. */
function cellOf(text: string): string {
  return oneLine(text).replaceAll("\t", "\\t");
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - stringWidth(text)));
}

/** Indented `label  value` lines; values that are undefined are left out. */
export function fields(
  pairs: readonly (readonly [string, string | undefined])[],
  paint: Paint,
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

/** Each text is one line, whatever it holds. */
export function lines(texts: readonly string[]): string {
  return texts.map((text) => `${oneLine(text)}\n`).join("");
}
