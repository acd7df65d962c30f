import { expect, test, vi } from "vitest";
import { extractWorkflows } from "../workflows/extract.ts";

// On a machine that may do other things.
vi.setConfig({ testTimeout: 60_000 });

const SDK = `import { task, workflow } from "@engine/sdk";\n`;

function extract(source: string, ...more: { path: string; source: string }[]) {
  const files = [{ path: "main.ts", source: SDK + source }, ...more];
  return extractWorkflows({ entry: "main.ts", files });
}

function repeated(count: number, of: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => of(i)).join("\n");
}

// Where one comment, name or member is looked for among all of them, these are too intricate to be
// read, or take longer than a test may.
test.each([
  [
    "each with a comment of its own",
    `${repeated(20_000, (i) => `// ${i}`)}
     ${repeated(2_000, (i) => `/** Does ${i}. */\nexport const w${i} = workflow({ name: "w${i}" }, async () => {});`)}`,
  ],
  [
    "whose names end a chain of constants",
    `const c0 = "w"; ${repeated(700, (i) => `const c${i + 1} = c${i};`)}
     ${repeated(2_000, (i) => `export const w${i} = workflow({ name: "w${i}", description: c700 }, async () => {});`)}`,
  ],
  [
    "whose names are members of one object",
    `const names = { ${repeated(2_000, (i) => `n${i}: "w${i}",`)} };
     ${repeated(2_000, (i) => `export const w${i} = workflow({ name: names.n${i} }, async () => {});`)}`,
  ],
  [
    "whose names are elements of one array",
    `const names = [${repeated(2_000, (i) => `"w${i}",`)}];
     ${repeated(2_000, (i) => `export const w${i} = workflow({ name: names[${i}] }, async () => {});`)}`,
  ],
])("EXE-60 2,000 workflows are read, %s", (_what, source) => {
  const { workflows, issues, warnings } = extract(source);
  expect(issues).toEqual([]);
  expect(warnings).toEqual([]);
  expect(workflows.map(({ name }) => name)).toEqual(
    Array.from({ length: 2_000 }, (_, i) => `w${i}`),
  );
});

test("EXE-63 2,000 workflows have their types from another file", () => {
  const types = repeated(2_000, (i) => `export interface In${i} { id: string; of: ${i} }`);
  const { workflows, warnings } = extract(
    `import type * as types from "./types.ts";
     ${repeated(2_000, (i) => `export const w${i} = workflow({ name: "w${i}" }, async (x: types.In${i}) => {});`)}`,
    { path: "types.ts", source: types },
  );
  expect(warnings).toEqual([]);
  expect(workflows.at(-1)?.input_schema).toMatchObject({ properties: { of: { const: 1_999 } } });
});

test("EXE-61 a workflow with 5,000 tasks and as many copies is read", () => {
  const { workflows, issues } = extract(`
    ${repeated(5_000, (i) => `const t${i} = task({ name: "t${i}" }, async () => {});`)}
    export const w = workflow({ name: "w" }, async () => {
      ${repeated(5_000, (i) => `await t${i}.with({ risk: "exec" })();`)}
    });`);
  expect(issues).toEqual([]);
  expect(workflows[0]?.tasks).toHaveLength(5_000);
  expect(new Set(workflows[0]?.tasks.map(({ risk }) => risk))).toEqual(new Set(["exec"]));
});

test("EXE-64 more workflows than are registered at once are refused, whatever else is wrong", () => {
  const { issues } = extract(
    repeated(20_001, (i) => `export const w${i} = workflow(async () => {});`),
  );
  expect(issues).toEqual([
    expect.objectContaining({
      rule: "too_intricate",
      message: expect.stringContaining("20001 workflows, and at most 20000"),
    }),
  ]);
});
