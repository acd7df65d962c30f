import { expect, test } from "vitest";
import { extractWorkflows } from "../workflows/extract.ts";

function extract(source: string) {
  const header = `import { workflow } from "@engine/sdk"; import * as z from "zod";\n`;
  const files = [{ path: "main.ts", source: header + source }];
  return extractWorkflows({ entry: "main.ts", files });
}

const doubling = Array.from({ length: 60 }, (_, i) => i + 1);

test("EXE-60 a file that throws when it is imported, or never ends, is read all the same", () => {
  const { workflows, issues, warnings } = extract(`
    throw new Error("must not be run");
    while (true) process.exit(1);
    const In = z.object({ a: z.string().refine(() => { while (true); }).transform(() => { throw 1; }) })
      .superRefine(() => process.exit(1));
    export const w = workflow({ name: "w", input: In }, async () => {});
    export const v = workflow({ name: "v", input: z.lazy(() => { while (true); }) }, async () => {});`);
  expect(issues).toEqual([]);
  expect(workflows[0]?.input_schema).toMatchObject({ properties: { a: { type: "string" } } });
  expect(workflows[1]?.input_schema).not.toHaveProperty("type");
  expect(warnings).toMatchObject([{ rule: "schema_not_extracted", line: 8 }]);
});

test.each([
  [
    "schemas that double",
    `const s0 = z.string();
    ${doubling.map((i) => `const s${i} = z.tuple([s${i - 1}, s${i - 1}]);`).join("\n")}
    export const w = workflow({ name: "w", input: s60 }, async () => {});`,
  ],
  [
    "lists that double",
    `const s0 = ["a"];
    ${doubling.map((i) => `const s${i} = [...s${i - 1}, ...s${i - 1}];`).join("\n")}
    export const w = workflow({ name: "w", input: z.enum(s60) }, async () => {});`,
  ],
  [
    "text that doubles",
    `const s0 = "aaaaaaaaaaaaaaaa";
    ${doubling.map((i) => `const s${i} = s${i - 1} + s${i - 1};`).join("\n")}
    export const w = workflow({ name: "w", input: z.literal(s60) }, async () => {});`,
  ],
  [
    "a schema of long texts",
    `const s0 = z.literal("${"a".repeat(50_000)}");
    ${doubling
      .slice(0, 12)
      .map((i) => `const s${i} = z.union([s${i - 1}, s${i - 1}]);`)
      .join("\n")}
    export const w = workflow({ name: "w", input: s12 }, async () => {});`,
  ],
  [
    "schemas nested without end",
    `const s0 = z.string();
    ${Array.from({ length: 3_000 }, (_, i) => `const s${i + 1} = z.array(s${i});`).join("\n")}
    export const w = workflow({ name: "w", input: s3000 }, async () => {});`,
  ],
  [
    "types that double",
    `type T0 = string;
    ${doubling.map((i) => `type T${i} = { a: T${i - 1}; b: T${i - 1} };`).join("\n")}
    export const w = workflow({ name: "w" }, async (x: T60) => {});`,
  ],
  [
    "a generic type that grows with every turn",
    `type Grow<T> = { value: T; next: Grow<T[]> };
    export const w = workflow({ name: "w" }, async (x: Grow<string>) => {});`,
  ],
  [
    "an alias of itself",
    `type A = B; type B = A;
    export const w = workflow({ name: "w" }, async (x: A) => {});`,
  ],
  [
    "a schema of itself",
    `const A = z.lazy(() => A);
    export const w = workflow({ name: "w", input: A }, async () => {});`,
  ],
  [
    "metadata that is no JSON Schema",
    `export const w = workflow({ name: "w", input: z.object({ a: z.string() }).meta({ id: "x" }).or(z.string().meta({ id: "x" })) }, async () => {});`,
  ],
])("EXE-65 %s: the schema is null with a warning, the workflow is registered", (_what, source) => {
  const { workflows, issues, warnings } = extract(source);
  expect(issues).toEqual([]);
  expect(workflows).toMatchObject([{ name: "w", input_schema: null }]);
  expect(warnings).toMatchObject([{ rule: "schema_not_extracted", workflow: "default/w" }]);
});

test("EXE-65 a hostile schema takes nothing from the rest of the file but its schemas", () => {
  // Each costs more steps than it has characters.
  const many = Array.from({ length: 30_000 }, () => "s()").join();
  const { workflows, issues, warnings } = extract(`
    const s = z.string;
    export const a = workflow({ name: "a", input: z.string() }, async () => {});
    export const b = workflow({ name: "b", input: z.tuple([${many}]) }, async () => {});
    export const c = workflow({ name: "c", timeout: "1s", input: z.string() }, async () => {});
    export const d = workflow({ name: "d" }, async (x: string) => {});`);
  expect(issues).toEqual([]);
  expect(workflows).toMatchObject([
    { name: "a", input_schema: { type: "string" } },
    { name: "b", input_schema: null },
    { name: "c", input_schema: null, timeout_seconds: 1 },
    { name: "d", input_schema: null },
  ]);
  expect(warnings.map(({ workflow }) => workflow)).toEqual(["default/b", "default/c", "default/d"]);
});

test("keys that objects have of themselves are members like any other", () => {
  const { workflows } = extract(`
    export const w = workflow({ name: "w", input: z.object({ constructor: z.string(), hasOwnProperty: z.int() }) }, async () => {});
    export const v = workflow({ name: "v", input: z.object({ ["__proto__"]: z.string() }) }, async () => {});
    export const u = workflow({ name: "u" }, async (x: { constructor: string }) => {});`);
  expect(workflows.map((each) => each.input_schema)).toEqual([
    expect.objectContaining({ required: ["constructor", "hasOwnProperty"] }),
    null,
    expect.objectContaining({ required: ["constructor"] }),
  ]);
});
