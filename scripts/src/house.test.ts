import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const MOST_LINES = 600;

test(`no source file has more than ${MOST_LINES} lines`, () => {
  const files = globSync("{packages/*,examples,e2e,benchmarks,scripts}/src/**/*.{ts,tsx}", {
    exclude: ["**/node_modules"],
  });
  expect(files.length).toBeGreaterThan(100);
  const long = files.filter((file) => readFileSync(file, "utf8").split("\n").length > MOST_LINES);
  expect(long).toEqual([]);
});

test("the index of rules in CONTRIBUTING names files that are there", () => {
  const page = readFileSync("CONTRIBUTING.md", "utf8");
  const [, index = ""] = page.split("## Which rule is where");
  const [table = ""] = index.split("\n## ");
  const files = [...table.matchAll(/`([^`]+\.ts)`/g)].map(([, file]) => `packages/${file}`);
  expect(files.length).toBeGreaterThan(40);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});
