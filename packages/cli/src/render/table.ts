import Table from "cli-table3";
import type { Paint } from "./paint.ts";

const NO_BORDERS = Object.fromEntries(
  "top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid middle"
    .split(" ")
    .map((part) => [part, ""]),
);

/** Aligned columns under small headings, without lines. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string {
  const grid = new Table({
    head: head.map((title) => paint("muted", title)),
    chars: NO_BORDERS,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 3 },
  });
  grid.push(...rows.map((row) => [...row]));
  return lines(
    grid
      .toString()
      .split("\n")
      .map((line) => line.trimEnd()),
  );
}

/** Indented `label  value` lines; values that are undefined are left out. */
export function fields(
  pairs: readonly (readonly [string, string | undefined])[],
  paint: Paint,
): string {
  const present = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return lines(
    present.map(([name, value]) => {
      const [first = "", ...rest] = value.split("\n");
      const below = rest.map((line) => `\n${" ".repeat(width + 5)}${line}`).join("");
      return `  ${paint("muted", name.padEnd(width))}   ${first}${below}`;
    }),
  );
}

export function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}
