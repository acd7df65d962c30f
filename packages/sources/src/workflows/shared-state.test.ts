import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

/** `line:column message up to its first comma` of every warning. */
function warningsOf(source: string): string[] {
  const files = [
    { path: "main.ts", source: `import { task, workflow } from "@engine/sdk";\n${source}` },
  ];
  const { issues, warnings } = extractWorkflows({ entry: "main.ts", files });
  expect(issues).toEqual([]);
  return warnings.map(
    ({ rule, file, line, column, message }) =>
      `${file}:${line}:${column} ${rule} ${message.split(",")[0]}`,
  );
}

test.each([
  ["let count = 0;", "count++;", "count"],
  ["let count = 0;", "count += 1;", "count"],
  ["var last: unknown;", "[last] = [1];", "last"],
  ["export let last: unknown;", "({ last } = { last: 1 });", "last"],
  ["const seen: string[] = [];", "seen.push('a');", "seen"],
  ["const seen = new Map();", "seen.set('a', 1);", "seen"],
  ["const seen = new Set();", "seen.delete('a');", "seen"],
  ["const state = { at: { n: 0 } };", "state.at.n = 1;", "state"],
  ["const state: any = {};", "delete state.a;", "state"],
])(
  "EXE-65 a body, a task or what they call that writes to `%s` is warned of with its place",
  (declared, write, name) => {
    const expected = (at: string) => [`main.ts:${at} shared_state ${name} belongs to the module`];
    expect(
      warningsOf(`${declared}
export const w = workflow({ name: "w" }, async () => {
  ${write}
});`),
    ).toEqual(expected(`4:${write.startsWith("(") ? 4 : 3}`));
    expect(
      warningsOf(`${declared}
const t = task({ name: "t" }, async () => {
  ${write}
});
export const w = workflow({ name: "w" }, () => t());`),
    ).toEqual(expected(`4:${write.startsWith("(") ? 4 : 3}`));
    expect(
      warningsOf(`${declared}
function note() {
  ${write}
}
export const w = workflow({ name: "w" }, async () => note());`),
    ).toEqual(expected(`4:${write.startsWith("(") ? 4 : 3}`));
  },
);

test.each([
  ["its own variable", "", "let n = 0; n++;"],
  ["a variable of the module that is only read", "let n = 0;", "console.log(n);"],
  ["a constant that is only read", "const all = [1];", "console.log(all[0], all.map(String));"],
  ["an array that a function made", "const all = () => [1];", "const own = all(); own.push(2);"],
  ["what it was given", "", "const f = (list: number[]) => { list.push(1); }; f([]);"],
])("EXE-65 a body that uses %s is no warning", (_what, declared, body) => {
  expect(
    warningsOf(`${declared}\nexport const w = workflow({ name: "w" }, async () => { ${body} });`),
  ).toEqual([]);
});

test("EXE-65 what the module does as it loads is no warning", () => {
  expect(
    warningsOf(`let n = 0; n = 5; const all: number[] = []; all.push(n);
export const w = workflow({ name: "w" }, async () => all[0]);`),
  ).toEqual([]);
});
