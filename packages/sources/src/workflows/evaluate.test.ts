import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

function metadata(expression: string, before = "", other = "", more = "") {
  const source = `import { workflow } from "@engine/sdk";\nimport * as other from "./other.ts";\n${before}\nexport const w = workflow({ name: "w", metadata: { v: ${expression} } }, async () => other);`;
  const { workflows, issues } = extractWorkflows({
    entry: "main.ts",
    files: [
      { path: "main.ts", source },
      { path: "other.ts", source: other },
      { path: "more.ts", source: more },
    ],
  });
  return { value: workflows[0]?.metadata["v"], issues };
}

test.each<[expression: string, value: unknown, before?: string, other?: string]>([
  [`"text"`, "text"],
  ["1.5", 1.5],
  ["0x10", 16],
  ["true", true],
  ["null", null],
  [`\`a\${1 + 2}b\${"c"}\${true}\``, "a3bctrue"],
  [`"a" + 1 + "b"`, "a1b"],
  ["-1", -1],
  ["+'3'", 3],
  ["~1", -2],
  ["!0", true],
  ["typeof 'x'", "string"],
  ["[1, [2], ...[3, ...[4]]]", [1, [2], 3, 4]],
  [`{ a: 1, "b c": 2, 3: 3, ["d" + 1]: 4 }`, { a: 1, "b c": 2, 3: 3, d1: 4 }],
  ["{ ...{ a: 1, b: 1 }, b: 2 }", { a: 1, b: 2 }],
  ["(1 as number)", 1],
  ["(('a' satisfies string))", "a"],
  ["<const>'a'", "a"],
  ["X", 1, "const X = 1;"],
  ["A", 1, "const A = B; const B = C; const C = D.e; const D = { e: 1 } as const;"],
  ["A.b['c'][1]", "y", "const A = { b: { c: ['x', 'y'] } };"],
  ["A[KEY]", 1, "const KEY = 'k'; const A = { [KEY]: 1 };"],
  ["{ A }", { A: 1 }, "const A = 1;"],
  ["B", 2, "const { a: { b: B } } = { a: { b: 2 } };"],
  ["B", "y", "const [, B] = ['x', 'y'];"],
  ["{ ...BASE, x: 2 }", { t: "1s", x: 2 }, "const BASE = { t: '1s', x: 1 };"],
  ["M.t", "1s", "const BASE = { t: '1s' }; const M = { x: 1, ...BASE };"],
  ["M.t", 2, "const M = { t: 1, ...{ t: 2 } };"],
  ["other.LIMIT", 7, "", "export const LIMIT = 7;"],
  ["other.again.deep", 7, "", "const deep = 7; export const again = { deep };"],
  ["other.default", "d", "", "export default 'd';"],
  ["other.named", 1, "", "const x = 1; export { x as named };"],
  ["X", 1, "import { X } from './other.ts';", "export const X = 1;"],
  ["later", 1, "function f() { const later = 2; return later; } const later = 1;"],
])("EXE-62 %s is static", (expression, value, before, other) => {
  expect(metadata(expression, before, other)).toEqual({ value, issues: [] });
});

test.each<
  [expression: string, leaf: string, reason: RegExp, before?: string, other?: string, more?: string]
>([
  ["f()", "f()", /is a call/, "function f() { return 1; }"],
  ["f`x`", "f`x`", /is a call/, "const f = String.raw;"],
  ["new Date()", "new Date()", /is a call/],
  ["1 > 0 ? 1 : 2", "1 > 0 ? 1 : 2", /is a conditional/],
  ["null ?? 1", "null ?? 1", /is a conditional/],
  ["60 * 60", "60 * 60", /computes with \*/],
  ["() => 1", "() => 1", /is a function/],
  ["process.env.TEAM", "process.env.TEAM", /known only at run time/],
  ["A", "process.env.A", /known only at run time/, "const A = B; const B = process.env.A;"],
  ["a", "a", /declared with let/, "let a = 1;"],
  ["a", "a", /declared with var/, "var a = 1;"],
  ["A.b", "A", /changed after its declaration/, "const A = { b: 1 }; A.b = 2;"],
  ["A", "A", /changed after its declaration/, "const A = [1]; A.push(2);"],
  ["A", "A", /changed after its declaration/, "const A = { b: 1 }; Object.assign(A, { b: 2 });"],
  ["A.c", "A.c", /not a member/, "const A = { b: 1 };"],
  ["A", "A", /leads back to itself/, "const A = B; const B: number = A;"],
  ["x", "x", /default or a rest/, "const { x = 1 } = { x: 2 };"],
  ["lib", "lib", /value of the package lib/, "import { lib } from 'lib';"],
  ["other.gone", "other.gone", /not exported by other.ts/],
  [
    "d",
    "d",
    /not exported/,
    "import d from './more.ts';",
    "export default 1;",
    "export * from './other.ts';",
  ],
  ["other", "other", /is a whole file/],
  ["Size.S", "Size", /is an enum/, "enum Size { S }"],
  ["/x/", "/x/", /is a regular expression/],
  ["{ get a() { return 1; } }", "get a() { return 1; }", /getter/],
  ["{ __proto__: {} }", "__proto__: {}", /has the key __proto__/],
  ["[...5]", "5", /spread but is not an array/],
  [`\`\${[1]}\``, "[1]", /an object where text or a number is needed/],
  ["1n + 1", "1n + 1", /bigint/],
  ["import.meta.url", "import.meta.url", /no member of an object/],
])("EXE-62 %s is not static", (expression, leaf, reason, before, other, more) => {
  const { issues } = metadata(expression, before, other, more);
  expect(issues).toMatchObject([{ rule: "not_static", expression: leaf }]);
  expect(issues[0]?.message).toMatch(reason);
  expect(issues[0]?.message).toMatch(/^option metadata\.v.* of workflow\(\) must be static/);
  expect(issues[0]?.message).toContain("allowed are literals, templates");
});

test("EXE-62 what is not static is told at its own place, not at the option", () => {
  const source = `import { workflow } from "@engine/sdk";
const unit = "s";
export const w = workflow({ name: \`w\`, description: LONG + unit }, async () => {});
const LONG = \`\${Number(process.argv[2])}\`;`;
  expect(
    extractWorkflows({ entry: "main.ts", files: [{ path: "main.ts", source }] }).issues,
  ).toMatchObject([
    {
      path: "workflows[0].description",
      line: 4,
      column: 17,
      expression: "Number(process.argv[2])",
    },
  ]);
});

test("EXE-62 functions and schemas of options may be any expression", () => {
  const source = `import { task, workflow } from "@engine/sdk";
const policy = { maxAttempts: 2, retryIf: make() };
const t = task({ name: "t", input: make(), output: make(), fallback: make(), rollback() {}, retry: policy }, make);
export const w = workflow({ name: "w", input: make(), output: make().x }, () => t());
function make(): any {}`;
  const { issues, workflows } = extractWorkflows({
    entry: "main.ts",
    files: [{ path: "main.ts", source }],
  });
  expect(issues).toEqual([]);
  expect(workflows[0]?.tasks).toMatchObject([{ name: "t", description: null }]);
});

test("EXE-62 options spread from something unreadable are refused once, without guessing a name", () => {
  const source = `import { workflow } from "@engine/sdk";
export const w = workflow({ ...defaults() }, async () => {});
export const v = workflow(options, async () => {});
let options = { name: "v" };
function defaults() { return { name: "w" }; }`;
  expect(
    extractWorkflows({ entry: "main.ts", files: [{ path: "main.ts", source }] }).issues,
  ).toMatchObject([
    { rule: "not_static", workflow: null, line: 2, expression: "defaults()" },
    { rule: "not_static", workflow: null, line: 3, expression: "options" },
  ]);
});

test("values that multiply without end are refused, not computed", () => {
  const lines = ["const a0 = ['x', 1];"];
  for (let i = 1; i < 60; i++) lines.push(`const a${i} = [...a${i - 1}, ...a${i - 1}];`);
  expect(metadata("a59", lines.join("\n")).issues).toMatchObject([
    { rule: "too_intricate", file: "main.ts", line: 1, column: 1 },
  ]);
  const texts = ["const t0 = 'xxxxxxxxxx';"];
  for (let i = 1; i < 40; i++) texts.push(`const t${i} = t${i - 1} + t${i - 1};`);
  expect(metadata("t39", texts.join("\n")).issues).not.toEqual([]);
});
