import { appendFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outOfTouch } from "./contacts.ts";

test("a worker was out of touch where it was not answered for as long as servers wait for one", () => {
  const folder = mkdtempSync(join(tmpdir(), "contacts-"));
  expect(outOfTouch(folder, [])).toEqual([]);
  const lines = [
    [1, 10_000],
    [2, 10_500],
    [1, 11_000],
    [1, 14_999],
    [2, 15_000],
    [2, 15_900],
  ];
  appendFileSync(join(folder, "contacts"), lines.map((line) => `${line.join("\t")}\n`).join(""));
  expect(outOfTouch(folder, [])).toEqual([{ pid: 2, from: 10_500, to: 15_000 }]);
});

test("where its server died meanwhile, it need not have been so long", () => {
  const folder = mkdtempSync(join(tmpdir(), "contacts-"));
  const lines = [
    [1, 10_000],
    [1, 12_500],
    [1, 15_000],
    [1, 16_900],
  ];
  appendFileSync(join(folder, "contacts"), lines.map((line) => `${line.join("\t")}\n`).join(""));
  const deaths = [
    { pid: 7, from: 12_900, to: 12_950 },
    { pid: 8, from: 16_000, to: 16_010 },
  ];
  expect(outOfTouch(folder, deaths)).toEqual([{ pid: 1, from: 12_500, to: 15_000 }]);
});
