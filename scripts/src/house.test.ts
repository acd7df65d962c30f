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

test("a project of one's own is told to pack whatever the packages that it installs need", () => {
  const page = readFileSync("docs/your-own-project.md", "utf8");
  const [, packed = ""] = /for name in ([a-z ]+);/.exec(page) ?? [];
  const needed = new Set<string>();
  const need = (name: string): void => {
    if (needed.has(name)) return;
    needed.add(name);
    const manifest = JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8"));
    for (const other of Object.keys(manifest.dependencies ?? {})) {
      if (other.startsWith("@engine/")) need(other.slice("@engine/".length));
    }
  };
  for (const name of ["sdk", "client", "cli", "local"]) need(name);
  expect(packed.split(" ").sort()).toEqual([...needed].sort());
});
