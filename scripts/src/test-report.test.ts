import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { summary } from "./test-report.ts";

const folder = mkdtempSync(join(tmpdir(), "reports-"));
const write = (part: string, report: object) =>
  writeFileSync(join(folder, `${part}.json`), JSON.stringify(report));

write("clean", {
  numPassedTests: 3,
  testResults: [
    {
      name: "a.test.ts",
      status: "passed",
      assertionResults: [{ status: "passed", fullName: "it goes" }],
    },
  ],
});
write("failed", {
  numPassedTests: 1,
  testResults: [
    {
      name: "b.test.ts",
      status: "failed",
      assertionResults: [
        { status: "passed", fullName: "it goes" },
        { status: "failed", fullName: "it stays", failureMessages: ["expected 1 to be 2\n at x"] },
      ],
    },
    { name: "c.test.ts", status: "failed", message: "cannot be loaded", assertionResults: [] },
  ],
});
write("stray", { numPassedTests: 2, testResults: [] });
writeFileSync(join(folder, "stray.failed"), "");

write("died", {
  numPassedTests: 1,
  testResults: [
    {
      name: "d.test.ts",
      status: "passed",
      assertionResults: [
        { status: "passed", fullName: "it goes" },
        { status: "pending", fullName: "it takes all memory" },
        { status: "pending", fullName: "it has no turn" },
        { status: "skipped", fullName: "not here" },
      ],
    },
  ],
});
writeFileSync(join(folder, "died.failed"), "");

test("tests that never ended have failed, though their file says that it passed", () => {
  expect(summary(folder, ["clean", "died"]).split("\n\n")).toEqual([
    "FAILED d.test.ts > it takes all memory and 1 more\n  never ended: its process did",
    "4 passed, 1 failed",
  ]);
});

test("runs that all passed are a line", () => {
  expect(summary(folder, ["clean"])).toBe("3 passed, 0 failed");
});

test("each test that failed is named with its message, and so is what failed outside of tests", () => {
  expect(summary(folder, ["clean", "failed", "stray", "none"]).split("\n\n")).toEqual([
    "FAILED b.test.ts > it stays\n  expected 1 to be 2\n   at x",
    "FAILED c.test.ts\n  cannot be loaded",
    "stray: an error outside its tests",
    "none: left no report",
    "6 passed, 4 failed",
  ]);
});
