import type { SourceFile } from "@engine/contract";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import { extractWorkflows } from "../workflows/extract.ts";

function extract(source: string, ...others: [path: string, source: string][]) {
  const files: SourceFile[] = [
    { path: "main.ts", source: `import { workflow } from "@engine/sdk";\n${source}` },
    ...others.map(([path, text]) => ({ path, source: text })),
  ];
  const { workflows, issues, warnings } = extractWorkflows({ entry: "main.ts", files });
  expect(issues).toEqual([]);
  const [{ input_schema = null, output_schema = null } = {}] = workflows;
  return {
    input: input_schema,
    output: output_schema,
    warnings: warnings.map(({ rule, file, line, column, expression }) => {
      expect(rule).toBe("schema_not_extracted");
      return `${file}:${line}:${column} ${expression}`;
    }),
  };
}

/** The schema of a type as an input, without what every schema begins with. */
function ofType(type: string, declarations = "", ...others: [path: string, source: string][]) {
  const { input, warnings } = extract(
    `${declarations}\nexport const w = workflow({ name: "w" }, async (input: ${type}) => {});`,
    ...others,
  );
  expect(warnings).toEqual([]);
  const { $schema, ...schema } = input ?? {};
  expect($schema).toBe("https://json-schema.org/draft/2020-12/schema");
  return schema;
}

const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
});
const text = { type: "string" };
const number = { type: "number" };

test.each<[type: string, schema: object]>([
  ["string", text],
  ["number", number],
  ["boolean", { type: "boolean" }],
  ["null", { type: "null" }],
  [`"a"`, { type: "string", const: "a" }],
  ["-1", { type: "number", const: -1 }],
  ["true", { type: "boolean", const: true }],
  ["`t`", { type: "string", const: "t" }],
  [`"a" | "b"`, { type: "string", enum: ["a", "b"] }],
  ["string | number", { type: ["string", "number"] }],
  ["string | undefined", { type: ["string", "null"] }],
  ["string[]", { type: "array", items: text }],
  ["readonly string[]", { type: "array", items: text }],
  ["(string | null)[]", { type: "array", items: { type: ["string", "null"] } }],
  ["Array<number>", { type: "array", items: number }],
  ["ReadonlyArray<number>", { type: "array", items: number }],
  ["[]", { type: "array", prefixItems: [], items: false, maxItems: 0 }],
  [
    "[string, n?: number]",
    { type: "array", prefixItems: [text, number], items: false, minItems: 1, maxItems: 2 },
  ],
  [
    "readonly [first: string, ...rest: number[]]",
    { type: "array", prefixItems: [text], items: number, minItems: 1 },
  ],
  ["{ a: string; readonly b?: number }", object({ a: text, b: number }, ["a"])],
  [`{ "a-b": string; 1: number }`, object({ "a-b": text, 1: number }, ["1", "a-b"])],
  ["{ a: string | undefined; b: unknown; c: any }", object({ a: text, b: {}, c: {} }, [])],
  ["{ a: { b: string } }", object({ a: object({ b: text }) })],
  [
    "{ [key: string]: number }",
    { type: "object", propertyNames: text, additionalProperties: number },
  ],
  [
    "{ a: number; [key: string]: number }",
    { ...object({ a: number }), additionalProperties: number },
  ],
  ["Record<string, string>", { type: "object", propertyNames: text, additionalProperties: text }],
  [`Record<"a" | "b", number>`, object({ a: number, b: number })],
  ["Partial<{ a: string }>", object({ a: text }, [])],
  ["Required<{ a?: string | undefined }>", object({ a: text })],
  ["Readonly<{ a: string }>", object({ a: text })],
  [`Pick<{ a: string; b: Date }, "a">`, object({ a: text })],
  [`Omit<{ a: string; b: () => void; c: 1 }, "b" | "c">`, object({ a: text })],
  ["{ a: string } & { b: number }", object({ a: text, b: number })],
  [
    `{ k: string; n?: 1 } & ({ k: "a" })`,
    object(
      { k: { allOf: [text, { type: "string", const: "a" }] }, n: { type: "number", const: 1 } },
      ["k"],
    ),
  ],
  [
    "{ a: string } & ({ b: number } | { c: number })",
    { anyOf: [object({ a: text, b: number }), object({ a: text, c: number })] },
  ],
])("EXE-63 the type %s", (type, schema) => {
  expect(ofType(type)).toEqual(schema);
});

test("EXE-63 aliases, interfaces and what they extend are followed through the files sent", () => {
  const schema = ofType(
    "Order",
    `import type { Customer } from "./types.ts";
    import { type Line as Item } from "./types.ts";
    import * as types from "./types.ts";
    interface Base<Id = string> { id: Id }
    interface Order extends Base, Pick<types.Stamped, "at"> { customer: Customer; items: Item[]; id: "o1" }
    interface Order { note?: string }`,
    [
      "types.ts",
      `export * from "./deep/customer.ts";
      interface Line { sku: string } export type { Line };
      export interface Stamped { at: number; by: symbol }`,
    ],
    [
      "deep/customer.ts",
      `type Name = { first: string }; export type Customer = Name & { vip: boolean };`,
    ],
  );
  expect(schema).toEqual(
    object(
      {
        id: { type: "string", const: "o1" },
        at: number,
        customer: object({ first: text, vip: { type: "boolean" } }),
        items: { type: "array", items: object({ sku: text }) },
        note: text,
      },
      ["id", "at", "customer", "items"],
    ),
  );
});

test("EXE-63 a type may refer to itself, also with type arguments", () => {
  expect(ofType("Tree<number>", "type Tree<T> = { value: T; subs: Tree<T>[] };")).toEqual(
    object({ value: number, subs: { type: "array", items: { $ref: "#" } } }),
  );
  expect(ofType("{ a: Json }", "type Json = string | Json[];")).toEqual({
    ...object({ a: { $ref: "#/$defs/__schema0" } }),
    $defs: {
      __schema0: { anyOf: [text, { type: "array", items: { $ref: "#/$defs/__schema0" } }] },
    },
  });
});

test("EXE-63 a local type hides one of the file, and a type parameter hides both", () => {
  const body = (inner: string) => `type T = string;
    function make() { ${inner} return workflow({ name: "w" }, async (x: T) => {}); }
    export const w = make();`;
  const { workflows } = extractWorkflows({
    entry: "main.ts",
    files: [
      {
        path: "main.ts",
        source: `import { workflow } from "@engine/sdk"; ${body("interface T { a: 1 }")}`,
      },
    ],
  });
  // It is not exported as a call the engine can see; what was read shows in no record.
  expect(workflows).toEqual([]);
  expect(
    extract(`type T = string;
      export const w = workflow({ name: "w" }, async function <T>(x: T) {});`).input,
  ).toBeNull();
});

test.each<[declaration: string, type: string, schema: z.ZodType, io: "input" | "output"]>([
  ["", "z.infer<typeof Order>", z.object({ a: z.string(), n: z.number() }), "output"],
  ["", "z.output<typeof Order>", z.object({ a: z.string(), n: z.number() }), "output"],
  ["", "z.input<typeof Order>", z.object({ a: z.string().default("x"), n: z.string() }), "input"],
  ["type In = z.input<typeof shop.Order>;", `Pick<In, "n">`, z.object({ n: z.string() }), "input"],
])("EXE-63 types of a schema in the files: %s %s", (declaration, type, schema, io) => {
  const read = ofType(
    type,
    `import * as z from "zod"; import { Order } from "./order.ts"; import * as shop from "./order.ts"; ${declaration}`,
    [
      "order.ts",
      `import { z } from "zod";
      export const Order = z.object({ a: z.string().default("x"), n: z.string().transform(Number).pipe(z.number()) });`,
    ],
  );
  const { $schema, additionalProperties, ...expected } = z.toJSONSchema(schema, { io });
  expect(read).toMatchObject(expected);
  expect(Object.keys(read)).toEqual(Object.keys(expected));
});

test("EXE-61 type arguments come before annotations, the input option before both", () => {
  const read = (call: string) =>
    extract(`import * as z from "zod"; const body = async (x: { c: 1 }): Promise<{ out: string }> => ({ out: "" });
      export const w = ${call};`);
  expect(read(`workflow<{ a: 1 }, string>({ name: "w" }, body)`)).toMatchObject({
    input: { properties: { a: {} } },
    output: { type: "string" },
  });
  expect(read(`workflow({ name: "w", input: z.object({ b: z.int() }) }, body)`)).toMatchObject({
    input: { properties: { b: {} } },
    output: { properties: { out: { type: "string" } } },
  });
  expect(read(`workflow({ name: "w" }, body)`)).toMatchObject({ input: { properties: { c: {} } } });
});

test.each([
  ["async function w(input?: string) {}", { type: ["string", "null"] }],
  [`async function w(input: string = "x") {}`, { type: ["string", "null"] }],
  ["async function w({ a }: { a: number }) {}", object({ a: number })],
  ["function w(input: string): string { return input; }", text],
])("EXE-61 the body may be written %s", (body, schema) => {
  const { input, warnings } = extract(`${body}\nexport const x = workflow(w);`);
  expect(input).toEqual({ $schema: expect.any(String), ...schema });
  expect(warnings).toEqual([]);
});

test.each([
  ["async () => {}"],
  ["async (input) => {}"],
  ["async (input: any) => {}"],
  ["async (input: unknown) => {}"],
  ["async (_: undefined, ctx) => {}"],
  ["async (_: void) => {}"],
])("EXE-61 a body that says nothing of its input takes any, without a warning: %s", (body) => {
  const { input, warnings } = extract(`export const w = workflow({ name: "w" }, ${body});`);
  expect(input).toBeNull();
  expect(warnings).toEqual([]);
});

test.each([
  ["Date", "Date"],
  ["{ a: string; b: Map<string, string> }", "Map<string, string>"],
  ["{ run(): void }", "run(): void"],
  ["{ a: { b: symbol } }", "symbol"],
  ["string & { brand: 1 }", "string"],
  ["{ [K in string]: K }", "{ [K in string]: K }"],
  ["keyof { a: 1 }", "keyof { a: 1 }"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a type
  ["`a-${string}`", "`a-${string}`"],
  ["(() => void)[]", "() => void"],
  ["typeof Number", "typeof Number"],
  ["Missing", "Missing"],
  ["Thing", "Thing"],
  ["Sent", "Sent"],
  ["Outside", "Outside"],
  ["Loop", "Loop"],
  ["Partial<string>", "string"],
  ["Omit<{ a: 1 }, string>", "string"],
  ["Exclude<'a' | 'b', 'a'>", "Exclude<'a' | 'b', 'a'>"],
])("EXE-63 EXE-65 any other type gives null and a warning at its place: %s", (type, at) => {
  const { input, warnings } =
    extract(`import type { Sent } from "./not-sent.ts"; import type { Outside } from "outside"; class Thing {} type Loop = Loop & { a: 1 };
export const w = workflow({ name: "w" }, async (input: ${type}) => {});`);
  expect(input).toBeNull();
  expect(warnings).toHaveLength(1);
  if (type === "Loop") return;
  const line = `export const w = workflow({ name: "w" }, async (input: ${type}) => {});`;
  const column = line.indexOf(at, line.indexOf(type)) + 1;
  expect(warnings[0]).toBe(`main.ts:3:${column} ${at}`);
});

test("EXE-65 an output type that cannot be read is no warning: nothing is checked by it", () => {
  const { output, warnings } = extract(
    `export const w = workflow({ name: "w" }, async (input: string): Promise<Date> => new Date());`,
  );
  expect(output).toBeNull();
  expect(warnings).toEqual([]);
});

interface Pair {
  readonly type: string;
  /** The schema that says the same. */
  readonly schema: string;
}
const key = fc.constantFrom("a", "b", "c", "toString");
const { pair: anyPair } = fc.letrec<{ pair: Pair }>((tie) => ({
  pair: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<Pair>(
      { type: "string", schema: "z.string()" },
      { type: "number", schema: "z.number()" },
      { type: "boolean", schema: "z.boolean()" },
      { type: "null", schema: "z.null()" },
      { type: `"x"`, schema: `z.literal("x")` },
      { type: "7", schema: "z.literal(7)" },
      { type: `"x" | "y"`, schema: `z.literal(["x", "y"])` },
    ),
    tie("pair").map(({ type, schema }) => ({ type: `(${type})[]`, schema: `z.array(${schema})` })),
    tie("pair").map(({ type, schema }) => ({
      type: `Record<string, ${type}>`,
      schema: `z.record(z.string(), ${schema})`,
    })),
    tie("pair").map(({ type, schema }) => ({
      type: `[${type}, (${type})?]`,
      schema: `z.tuple([${schema}, ${schema}.optional()])`,
    })),
    fc.dictionary(key, fc.tuple(tie("pair"), fc.boolean()), { maxKeys: 3 }).map((members) => {
      const all = Object.entries(members);
      const types = all.map(
        ([name, [{ type }, isOptional]]) => `${name}${isOptional ? "?" : ""}: ${type}`,
      );
      const schemas = all.map(
        ([name, [{ schema }, isOptional]]) =>
          `${name}: ${schema}${isOptional ? ".optional()" : ""}`,
      );
      return { type: `{ ${types.join("; ")} }`, schema: `z.object({ ${schemas.join(", ")} })` };
    }),
  ),
}));

test("EXE-63 any type is read as the schema that says the same", () => {
  fc.assert(
    fc.property(anyPair, ({ type, schema }) => {
      const own = new Function("z", `return ${schema}`)(z) as z.ZodType;
      const { $schema, ...expected } = z.toJSONSchema(own, { io: "input" });
      expect(ofType(type)).toEqual(JSON.parse(JSON.stringify(expected)));
    }),
    { numRuns: 300 },
  );
});
