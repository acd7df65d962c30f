import { expect, test } from "vitest";
import { lineColumns } from "./line-column.ts";

test("EXE-64 lines and columns count from 1, columns in UTF-16 units, for every kind of line end", () => {
  const text = "a\nb\r\n😀c\rd";
  const at = lineColumns(text);
  const places = [..."abcd"].map((letter) => at(text.indexOf(letter)));
  expect(places).toEqual([
    { line: 1, column: 1 },
    { line: 2, column: 1 },
    { line: 3, column: 3 },
    { line: 4, column: 1 },
  ]);
  expect(at(text.length)).toEqual({ line: 4, column: 2 });
});
