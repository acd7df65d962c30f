import { globSync } from "node:fs";
import { matchesGlob } from "node:path";
import { expect, test } from "vitest";
import { leftOut, NAMED, NEEDS_THE_MACHINE, startOf } from "./test-parts.ts";

const files = globSync("{packages/*,examples,e2e,simulation}/src/**/*.test.ts", {
  exclude: ["**/node_modules"],
});

test("each entry is a test file or a folder with some, named once", () => {
  const unknown = NAMED.filter((entry) =>
    entry.endsWith("/") ? !files.some((file) => file.startsWith(entry)) : !files.includes(entry),
  );
  expect(unknown).toEqual([]);
  expect(new Set(NAMED).size).toBe(NAMED.length);
});

test("what needs the machine for itself is test files, and none that `npm test` runs", () => {
  const usual = leftOut("usual");
  for (const pattern of NEEDS_THE_MACHINE) {
    const found = files.filter((file) => matchesGlob(file, pattern));
    expect([pattern, found.length > 0]).toEqual([pattern, true]);
    expect(found.filter((file) => !usual.some((glob) => matchesGlob(file, glob)))).toEqual([]);
  }
});

test("the usual tests and the rest are all tests, and no test is in both", () => {
  const rest = startOf("rest", []).words.slice(1);
  const isRest = (file: string) => rest.some((entry) => file.startsWith(entry));
  const isUsual = (file: string) => !leftOut("usual").some((glob) => matchesGlob(file, glob));
  expect(files.filter((file) => isRest(file) === isUsual(file))).toEqual([]);
  expect(files.some(isRest) && files.some(isUsual)).toBe(true);
});

test("what is named runs as it is named; other words leave the part as it is", () => {
  for (const words of [["e2e/src/sweep"], ["--project", "e2e"], ["--project=e2e"]]) {
    expect(startOf("usual", words)).toEqual({ words: ["run", ...words], part: undefined });
  }
  const reported = startOf("usual", ["--reporter=json"]);
  expect(reported).toEqual({ words: ["run", "--reporter=json"], part: "usual" });
  expect(startOf("quick", []).words).toEqual(["run", "--project", "unit*"]);
  expect(leftOut("quick")).toContain("packages/worker/src/runners/**");
  expect(leftOut(undefined)).toEqual([]);
});
