import { appendFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outOfTouch } from "./contacts.ts";

test("a worker was out of touch where it was not answered for as long as servers wait for one", () => {
  const folder = mkdtempSync(join(tmpdir(), "contacts-"));
  expect(outOfTouch(folder)).toEqual([]);
  const lines = [
    [1, 10_000],
    [2, 10_500],
    [1, 11_000],
    [1, 14_999],
    [2, 15_000],
    [2, 15_900],
  ];
  appendFileSync(join(folder, "contacts"), lines.map((line) => `${line.join("\t")}\n`).join(""));
  expect(outOfTouch(folder)).toEqual([{ pid: 2, from: 10_500, to: 15_000 }]);
});
