import type { SourceFile } from "@engine/contract";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { extractWorkflows } from "../workflows/extract.ts";

/** The input schema of one workflow, and `line:column expression` of each warning. */
function extract(source: string, ...others: [path: string, source: string][]) {
  const files: SourceFile[] = [
    { path: "main.ts", source: `import { workflow } from "@engine/sdk";${source}` },
    ...others.map(([path, text]) => ({ path, source: text })),
  ];
  const { workflows, issues, warnings } = extractWorkflows({ entry: "main.ts", files });
  expect(issues).toEqual([]);
  const [{ input_schema = null } = {}] = workflows;
  return {
    schema: input_schema,
    warnings: warnings.map(({ rule, line, column, expression, file }) => {
      expect(rule).toBe("schema_not_extracted");
      return `${file}:${line}:${column} ${expression}`;
    }),
  };
}

/** What zod itself makes of an expression, which the test runs and the engine only reads. */
function converted(expression: string): unknown {
  const schema = new Function("z", `return (${expression})`)(z) as z.ZodType;
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

function ofExpression(expression: string) {
  return extract(`import * as z from "zod";
    export const w = workflow({ name: "w", input: ${expression} }, async () => {});`);
}

test.each([
  `z.object({ a: z.string(), b: z.number().optional() })`,
  `z.object({ a: z.string().default("x") }).strict()`,
  `z.strictObject({ a: z.boolean() })`,
  `z.looseObject({ a: z.boolean() })`,
  `z.object({ a: z.null() }).catchall(z.string())`,
  `z.string().min(2).max(5).describe("a word")`,
  `z.string().trim().toLowerCase().startsWith("a").regex(/^a+$/)`,
  `z.string().length(3, "three, please").nonempty({ error: () => "none" })`,
  `z.number().int().positive().max(10 * 1_000).multipleOf(-(-2))`,
  `z.number().gt(1).lte(2.5).step(0.5)`,
  `z.coerce.number().min(1)`,
  `z.int32()`,
  `z.email()`,
  `z.string().email("no address")`,
  `z.uuid({ version: "v4" })`,
  `z.url()`,
  `z.iso.datetime({ offset: true })`,
  `z.iso.date()`,
  `z.enum(["a", "b"])`,
  `z.enum({ A: "a", B: 2 })`,
  `z.enum(["a", "b", "c"]).exclude(["a"])`,
  `z.literal("a")`,
  `z.literal([1, null, "a", true])`,
  `z.templateLiteral(["a-", z.number(), "-b"])`,
  `z.array(z.string()).min(1).max(3)`,
  `z.string().array().nonempty()`,
  `z.tuple([z.string(), z.number().optional()])`,
  `z.tuple([z.string()], z.boolean())`,
  `z.record(z.string(), z.number())`,
  `z.record(z.enum(["a", "b"]), z.number())`,
  `z.partialRecord(z.enum(["a", "b"]), z.number())`,
  `z.union([z.string(), z.number(), z.null()])`,
  `z.string().or(z.object({ a: z.string() }))`,
  `z.discriminatedUnion("k", [z.object({ k: z.literal("a"), n: z.int() }), z.object({ k: z.literal("b") })])`,
  `z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))`,
  `z.object({ a: z.string() }).and(z.record(z.string(), z.unknown()))`,
  `z.string().nullable()`,
  `z.object({ a: z.string().nullish(), b: z.string().nullable().optional() })`,
  `z.nullable(z.optional(z.string()))`,
  `z.object({ a: z.any(), b: z.unknown(), c: z.never().optional() })`,
  `z.object({ a: z.string(), b: z.string() }).pick({ a: true }).extend({ c: z.int() }).partial()`,
  `z.object({ a: z.string().optional(), b: z.string() }).omit({ b: true }).required()`,
  `z.object({ a: z.string() }).merge(z.object({ a: z.number() })).loose()`,
  `z.object({ a: z.string(), b: z.string() }).partial({ a: true }).shape.a`,
  `z.object({ a: z.string(), b: z.int() }).keyof()`,
  `z.array(z.int()).element`,
  `z.string().refine((x) => x !== "").superRefine(() => {}).brand("b").overwrite((x) => x)`,
  `z.string().transform(Number).pipe(z.number())`,
  `z.string().default("a").catch("b").readonly()`,
  `z.string().prefault("a")`,
  `z.array(z.string()).default(() => [])`,
  `z.object({ a: z.string().meta({ title: "A", examples: ["x"] }) }).meta({ id: "Thing" })`,
  `z.object({ a: z.string().meta({ id: "A", $anchor: "a.b" }) })`,
  `z.preprocess((x) => x, z.number())`,
  `z.stringbool()`,
  `z.json()`,
  `z.string().check(z.minLength(2), z.regex(/b/))`,
  `z.lazy(() => z.string())`,
  `z.xor([z.string(), z.int()])`,
  `z.email({ pattern: z.regexes.email })`,
])("EXE-63 zod's own conversion of %s is read without running it", (expression) => {
  const { schema, warnings } = ofExpression(expression);
  expect(schema).toEqual(converted(expression));
  expect(warnings).toEqual([]);
});

const name = fc.constantFrom("a", "b", "c", "toString", "x-y");
const { schema: anySchema } = fc.letrec<{ schema: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(
    fc.constantFrom("z.string()", "z.int()", "z.boolean()", "z.null()", "z.any()", "z.uuid()"),
    fc.integer({ min: 0, max: 9 }).map((n) => `z.string().min(${n})`),
    fc.integer().map((n) => `z.number().max(${n}).multipleOf(3)`),
    fc.json({ maxDepth: 1 }).map((json) => `z.any().default(${json})`),
    fc.string().map((text) => `z.literal(${JSON.stringify(text)})`),
    fc.uniqueArray(fc.string(), { minLength: 1 }).map((all) => `z.enum(${JSON.stringify(all)})`),
  ),
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie("leaf"),
    fc
      .dictionary(name, tie("schema"), { maxKeys: 3 })
      .chain((shape) =>
        fc
          .constantFrom("object", "strictObject", "looseObject")
          .map((kind) => `z.${kind}({ ${membersOf(shape)} })`),
      ),
    tie("schema").map((inner) => `z.array(${inner}).max(3)`),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((all) => `z.union([${all}])`),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((all) => `z.tuple([${all}])`),
    fc.tuple(tie("schema"), tie("schema")).map(([a, b]) => `${a}.or(${b})`),
    fc
      .tuple(
        tie("schema"),
        fc.constantFrom("optional()", "nullable()", "nullish()", "readonly()", `describe("d")`),
      )
      .map(([inner, method]) => `${inner}.${method}`),
    tie("schema").map((inner) => `z.record(z.string(), ${inner})`),
    tie("schema").map((inner) => `${inner}.refine(() => false).transform(() => 1)`),
    tie("schema").map((inner) => `z.lazy(() => ${inner})`),
  ),
}));

function membersOf(shape: Record<string, string>): string {
  return Object.entries(shape)
    .map(([key, value]) => `${JSON.stringify(key)}: ${value}`)
    .join(", ");
}

test("EXE-63 any schema is read as zod itself converts it", () => {
  fc.assert(
    fc.property(anySchema, (expression) => {
      const { schema, warnings } = ofExpression(expression);
      expect(schema).toEqual(JSON.parse(JSON.stringify(converted(expression))));
      expect(warnings).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test.each([
  [`import { z } from "zod";`, "z.object({ a: z.string() })"],
  [`import z from "zod/v4";`, "z.object({ a: z.string() })"],
  [`import { object, string as text } from "zod";`, "object({ a: text() })"],
  [`import * as zod from "zod"; const { z } = zod;`, "z.object({ a: z.string() })"],
  [`import * as z from "zod/mini";`, "z.object({ a: z.string() })"],
])("EXE-63 zod is known under any name: %s", (header, expression) => {
  const source = `${header}\nexport const w = workflow({ name: "w", input: ${expression} }, async () => {});`;
  const expected = z.toJSONSchema(z.object({ a: z.string() }));
  delete expected.additionalProperties;
  expect(extract(source)).toEqual({ schema: expected, warnings: [] });
});

test("EXE-63 the functions of zod/mini make the same schemas", () => {
  const expression = `z.extend(z.object({ a: z.optional(z.string().check(z.minLength(2), z.refine(() => true))) }), { b: z.nullable(z.int()) })`;
  const { schema } = extract(`import * as z from "zod/mini";
    export const w = workflow({ name: "w", input: ${expression} }, async () => {});`);
  const own = new Function("z", `return ${expression}`)(mini) as z.core.$ZodType;
  expect(schema).toEqual(JSON.parse(JSON.stringify(z.toJSONSchema(own, { io: "input" }))));
});

test("EXE-63 a schema is followed through const bindings, members and the files sent", () => {
  const { schema, warnings } = extract(
    `import { z } from "zod";
    import { parts, Status } from "./parts.ts";
    import type { Unused } from "./types.ts";
    const limits = { items: 2 + 1 } as const;
    const Base = z.object({ id: z.string(), ...parts.shared });
    const Order = Base.extend({ items: z.array(parts.Item).max(limits.items), status: z.enum(Status) });
    const options = { input: Order satisfies z.ZodType };
    export const w = workflow({ name: "w", ...options }, async () => {});`,
    [
      "parts.ts",
      `import * as z from "zod";
      const Item = z.object({ sku: z.string(), qty: z.int() });
      export const parts = { Item, shared: { at: Item.shape.qty } };
      export enum Status { Open = "open", Closed = "closed" }`,
    ],
  );
  const Item = z.object({ sku: z.string(), qty: z.int() });
  const Order = z.object({
    id: z.string(),
    at: z.int(),
    items: z.array(Item).max(3),
    status: z.enum(["open", "closed"]),
  });
  expect(schema).toEqual({ ...z.toJSONSchema(Order, { io: "input" }) });
  expect(warnings).toEqual([]);
});

test.each([
  [`const T = z.object({ name: z.string(), get subs() { return z.array(T); } });`],
  [`const T = z.object({ name: z.string(), subs: z.array(z.lazy(() => T)) });`],
  [
    `const T: z.ZodType = z.object({ name: z.string(), subs: z.lazy(() => { return z.array(T); }) });`,
  ],
])("EXE-63 a schema may refer to itself: %s", (declaration) => {
  const { schema, warnings } = extract(
    `import * as z from "zod"; ${declaration} export const w = workflow({ name: "w", input: T }, async () => {});`,
  );
  expect(schema).toEqual({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { name: { type: "string" }, subs: { type: "array", items: { $ref: "#" } } },
    required: ["name", "subs"],
  });
  expect(warnings).toEqual([]);
});

test.each([
  ["z.date()", "z.date()"],
  ["z.bigint().min(5n)", "z.bigint().min(5n)"],
  ["z.custom<Buffer>((x) => x !== null)", "z.custom<Buffer>((x) => x !== null)"],
  ["z.instanceof(URL)", "z.instanceof(URL)"],
  ["z.map(z.string(), z.int())", "z.map(z.string(), z.int())"],
  ["makeSchema()", "makeSchema()"],
  ["v.string()", "v.string()"],
  ["flag ? z.string() : z.int()", "flag ? z.string() : z.int()"],
  ["z.string().apply(strict)", "z.string().apply(strict)"],
  ["z.fromJSONSchema({})", "z.fromJSONSchema({})"],
  ["5", "z.object({ a: z.string(), odd: 5 })"],
])("EXE-63 EXE-65 a part without a form in JSON Schema takes any value: %s", (part, at) => {
  const { schema, warnings } = extract(`import * as z from "zod"; import * as v from "valibot";
export const w = workflow({ name: "w", input: z.object({ a: z.string(), odd: ${part} }) }, async () => {});`);
  expect(schema).toMatchObject({
    type: "object",
    properties: { a: { type: "string" }, odd: {} },
    required: expect.arrayContaining(["a"]),
  });
  expect(schema?.["properties"]).toHaveProperty("odd", {});
  expect(warnings).toEqual([expect.stringMatching(/^main\.ts:2:\d+ /)]);
  expect(warnings[0]?.replace(/^\S+ /, "")).toBe(at);
});

test("EXE-65 a check whose bound is known at run time only is left out, with a warning", () => {
  expect(ofExpression(`z.string().max(Number(process.env.MAX)).min(2)`)).toEqual({
    schema: { ...z.toJSONSchema(z.string().min(2)) },
    warnings: ["main.ts:2:66 Number(process.env.MAX)"],
  });
});

test("EXE-65 a pattern with flags, which JSON Schema lacks, is left out, with a warning", () => {
  expect(ofExpression(`z.string().regex(/^[a-z]+$/i).max(9)`)).toEqual({
    schema: { ...z.toJSONSchema(z.string().max(9)) },
    warnings: ["main.ts:2:51 z.string().regex(/^[a-z]+$/i)"],
  });
});

test.each([
  ["v.object({ a: v.string() })"],
  ["makeSchema()"],
  ["z.object(makeShape())"],
  ["z.object({ a: z.string() }).extend(shapes.of(1))"],
  ["process.env.STRICT ? z.string() : z.any()"],
  ["class Input {}"],
])("EXE-63 EXE-65 of %s nothing is known to the engine: null and a warning", (expression) => {
  const { schema, warnings } =
    extract(`import * as v from "valibot"; import * as z from "zod"; import { shapes } from "shapes";
export const w = workflow({ name: "w", input: ${expression} }, async () => {});`);
  expect(schema).toBeNull();
  expect(warnings).toHaveLength(1);
});

test("EXE-63 a shared schema is told about for each workflow that uses it", () => {
  const { workflows, warnings } = extractWorkflows({
    entry: "main.ts",
    files: [
      {
        path: "main.ts",
        source: `import { workflow } from "@engine/sdk"; import * as z from "zod";
        const In = z.object({ at: z.date() });
        export const a = workflow({ name: "a", input: In }, async () => {});
        export const b = workflow({ name: "b", input: In.optional(), output: In }, async () => {});`,
      },
    ],
  });
  expect(workflows.map((each) => each.input_schema)).toEqual([
    expect.objectContaining({ properties: { at: {} } }),
    expect.objectContaining({ properties: { at: {} } }),
  ]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({ workflow: "default/a", path: "workflows[0].input_schema" });
});

test("EXE-61 the output schema says what a caller gets: what parsing gives, open for more members", () => {
  const { workflows } = extractWorkflows({
    entry: "main.ts",
    files: [
      {
        path: "main.ts",
        source: `import { workflow } from "@engine/sdk"; import * as z from "zod";
        const Out = z.object({ n: z.string().transform(Number).pipe(z.int()), d: z.string().default("x") });
        export const a = workflow({ name: "a", output: Out }, async () => {});`,
      },
    ],
  });
  expect(workflows[0]?.output_schema).toMatchObject({
    properties: { n: { type: "integer" }, d: { type: "string" } },
    required: ["n", "d"],
  });
  expect(workflows[0]?.output_schema).not.toHaveProperty("additionalProperties");
});
