import { EngineError, encode, type Json } from "@engine/contract";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import * as z from "zod";
import { checkInput } from "./input-check.ts";

// A process is started here, on a machine that may do other things.
vi.setConfig({ testTimeout: 60_000 });

type Schema = Record<string, Json>;

function schemaOf(schema: z.ZodType): Schema {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return JSON.parse(JSON.stringify(json)) as Schema;
}

/** `path: message` of every issue; nothing when the input is taken. */
async function issuesOf(
  schema: Schema | null | undefined,
  input: unknown,
  root?: string,
): Promise<string[]> {
  try {
    await checkInput(schema, encode(input, "input"), root);
    return [];
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.code === "unavailable") throw error;
    expect(error.code).toBe("invalid_input");
    const issues = error.details?.["issues"] as { path: string; message: string }[];
    expect(error.message).toContain(`${issues[0]?.path}: ${issues[0]?.message}`);
    return issues.map(({ path, message }) => `${path}: ${message}`);
  }
}

const Order = z.object({
  id: z.string().min(2).max(5),
  items: z.array(z.object({ sku: z.string(), qty: z.int().positive() })).min(1),
  kind: z.enum(["new", "old"]).optional(),
  note: z.string().nullable().default(null),
});

test("EXE-83 an input that fits is taken as it is", async () => {
  const input = { id: "abc", items: [{ sku: "x", qty: 1, more: true }] };
  await checkInput(schemaOf(Order), input);
  // Defaults are not filled in.
  expect(input).toEqual({ id: "abc", items: [{ sku: "x", qty: 1, more: true }] });
});

test("EXE-83 without a schema any input is taken", async () => {
  expect(await issuesOf(null, { a: 1 })).toEqual([]);
  expect(await issuesOf(undefined, null)).toEqual([]);
});

test("EXE-83 every wrong part is named by its path, with what was expected and what came", async () => {
  const input = { id: 5, items: [{ sku: "x", qty: 0 }, { qty: 1.5 }], kind: "odd", note: [] };
  expect(await issuesOf(schemaOf(Order), input)).toEqual([
    "body.id: expected a string, got an integer",
    "body.items[0].qty: expected more than 0",
    "body.items[1].sku: expected a string, which is missing",
    "body.items[1].qty: expected an integer, got a number",
    `body.kind: expected one of "new", "old"`,
    "body.note: expected a string or null, got an array",
  ]);
  expect(await issuesOf(schemaOf(Order), null, "input")).toEqual([
    "input: expected an object, got null",
  ]);
});

test.each<[z.ZodType, unknown, string]>([
  [z.string().min(2), "a", "body: expected at least 2 characters, got 1"],
  [z.string().max(2), "abc", "body: expected at most 2 characters, got 3"],
  [z.string().regex(/^a+$/), "b", "body: expected text that matches /^a+$/"],
  [z.number().min(1), 0, "body: expected 1 or more"],
  [z.number().lt(1), 1, "body: expected less than 1"],
  [z.number().multipleOf(5), 3, "body: expected a multiple of 5"],
  [z.literal("a"), "b", `body: expected "a"`],
  [z.array(z.int()).max(1), [1, 2], "body: expected at most 1 items, got 2"],
  [z.tuple([z.int()]), [1, 2], "body: expected at most 1 items, got 2"],
  [z.strictObject({ a: z.int() }), { a: 1, b: 2 }, "body.b: is unknown"],
  [z.object({ a: z.never().optional() }), { a: 1 }, "body.a: expected nothing here"],
  [z.record(z.enum(["a"]), z.int()), { a: 1, b: 1 }, "body.b: is not a key that is allowed"],
  [
    z.union([z.string(), z.array(z.int())]),
    {},
    "body: expected a string or an array, got an object",
  ],
  [
    z.object({ "a/b~c": z.int() }),
    { "a/b~c": "x" },
    "body.a/b~c: expected an integer, got a string",
  ],
])("EXE-83 the issue of %o", async (schema, input, issue) => {
  expect(await issuesOf(schemaOf(schema), input)).toEqual([issue]);
});

test("EXE-83 of the forms a value may have, the issue is that of the nearest", async () => {
  const Event = z.object({
    event: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("paid"), amount: z.number() }),
      z.object({ kind: z.literal("sent"), to: z.string(), by: z.string() }),
    ]),
  });
  expect(await issuesOf(schemaOf(Event), { event: { kind: "paid", amount: "1" } })).toEqual([
    "body.event.amount: expected a number, got a string",
  ]);
  expect(await issuesOf(schemaOf(Event), { event: { kind: "sent", to: 1, by: 2 } })).toEqual([
    "body.event.to: expected a string, got an integer",
    "body.event.by: expected a string, got an integer",
  ]);
});

test("EXE-83 forms within forms, and forms by reference, are told apart", async () => {
  const Node = z.object({
    kind: z.literal("node"),
    get subs() {
      return z.array(z.union([Leaf, Node]));
    },
  });
  const Leaf = z.object({
    kind: z.literal("leaf"),
    of: z.union([z.object({ a: z.int() }), z.int()]),
  });
  const tree = (leaf: Json) => ({ kind: "node", subs: [{ kind: "node", subs: [leaf] }] });
  const schema = schemaOf(Node);
  expect(await issuesOf(schema, tree({ kind: "leaf", of: 1 }))).toEqual([]);
  expect(await issuesOf(schema, tree({ kind: "leaf", of: { a: "x" } }))).toEqual([
    "body.subs[0].subs[0].of.a: expected an integer, got a string",
  ]);
});

test("EXE-83 what a caller sent is not repeated, however long or secret", async () => {
  const secret = "s3cret".repeat(1_000);
  const schema = schemaOf(z.strictObject({ a: z.enum(["x"]), b: z.int(), c: z.string().max(3) }));
  const found = await issuesOf(schema, { a: secret, b: secret, c: secret, [secret]: 1 });
  const issues = found.join();
  expect(issues).not.toContain(secret.slice(0, 100));
  expect(issues.length).toBeLessThan(500);
});

test("EXE-83 at most 20 issues are told", async () => {
  const input = Array.from({ length: 100 }, () => "x");
  expect(await issuesOf(schemaOf(z.array(z.int())), input)).toHaveLength(20);
});

test("EXE-83 of an input too large for a list of everything, the first issue is told", async () => {
  const input = Array.from({ length: 300_000 }, () => "x");
  expect(await issuesOf(schemaOf(z.array(z.int()).describe("d".repeat(10))), input)).toEqual([
    "body[0]: expected an integer, got a string",
  ]);
});

test("EXE-83 formats are not asserted", async () => {
  const schema = { type: "object", properties: { at: { type: "string", format: "date-time" } } };
  expect(await issuesOf(schema, { at: "yesterday" })).toEqual([]);
});

test("EXE-83 lengths, multiples and patterns are those of the author's schema", async () => {
  // Two UTF-16 units, as zod counts them; one code point, as JSON Schema does.
  expect(await issuesOf(schemaOf(z.string().min(2)), "😀")).toEqual([]);
  expect(await issuesOf(schemaOf(z.number().multipleOf(0.01)), 1.1)).toEqual([]);
  expect(await issuesOf(schemaOf(z.string().regex(/^\p{L}+$/u)), "é")).toEqual([]);
  expect(await issuesOf(schemaOf(z.string().regex(/^a-b$/)), "a-b")).toEqual([]);
});

test("EXE-83 what JSON lacks is left to the worker, whatever its plain form looks like", async () => {
  const schema = schemaOf(
    z.object({ a: z.string(), at: z.date(), big: z.literal(5n), gone: z.undefined() }),
  );
  const input = { a: "x", at: new Date(0), big: 5n, gone: undefined };
  expect(await issuesOf(schema, input)).toEqual([]);
  expect(await issuesOf(schema, { ...input, a: 1 })).toEqual([
    "body.a: expected a string, got an integer",
  ]);
  expect(await issuesOf(schemaOf(z.object({}).optional()), undefined)).toEqual([]);
  expect(await issuesOf(schemaOf(z.array(z.string().optional())), ["a", undefined])).toEqual([]);
  expect(
    await issuesOf(schemaOf(z.union([z.object({ m: z.map(z.string(), z.int()) }), z.string()])), {
      m: new Map([["a", 1]]),
    }),
  ).toEqual([]);
});

/** Of a text that does not fit, each letter doubles the time that a backtracking engine takes. */
const EVIL = { a: `${"a".repeat(60)}b` };

test("EXE-83 a pattern that backtracks for ever is answered like any other", async () => {
  const schema = schemaOf(z.object({ a: z.string().regex(/^(a+)+$/), n: z.int() }));
  expect(await issuesOf(schema, { ...EVIL, n: "1" })).toEqual([
    "body.a: expected text that matches /^(a+)+$/",
    "body.n: expected an integer, got a string",
  ]);
  expect(await issuesOf(schema, { a: "aaa", n: 1 })).toEqual([]);
  expect(await issuesOf(schema, { a: "b", n: 1 })).toEqual([
    "body.a: expected text that matches /^(a+)+$/",
  ]);
});

test("EXE-83 a pattern that only backtracking can answer is given up, and so is a schema that branches for ever", async () => {
  const Evil = schemaOf(z.object({ a: z.string().regex(/^(?=a)(a+)+$/) }));
  expect(await issuesOf(Evil, EVIL)).toEqual([
    expect.stringMatching(/^body: takes too long to check/),
  ]);
  expect(await issuesOf(Evil, { a: "aaa" })).toEqual([]);

  const branch = { properties: { a: { $ref: "#" } }, not: { required: ["end"] } };
  const Branching = { anyOf: [branch, branch] };
  let deep: Json = { end: 1 };
  for (let i = 0; i < 60; i++) deep = { a: deep };
  expect(await issuesOf(Branching, deep)).toEqual([expect.stringMatching(/takes too long/)]);
});

test("the server's loop turns while slow inputs are checked, however many come", async () => {
  const Evil = schemaOf(z.object({ a: z.string().regex(/^(?=a)(a+)+$/) }));
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns++;
    if (!isDone) setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  await Promise.all([1, 2, 3, 4].map(() => issuesOf(Evil, EVIL)));
  isDone = true;
  // Four times half a second; one that held the loop would let it turn once.
  expect(turns).toBeGreaterThan(20);
});

test("inputs beyond what may wait for one slow schema are told to come again, those of others are not", async () => {
  const Evil = schemaOf(z.object({ b: z.string().regex(/^(a+)+$/) }));
  const Other = schemaOf(z.object({ c: z.string().regex(/^(a+)+$/) }));
  const evil = Array.from({ length: 110 }, () => issuesOf(Evil, { b: EVIL.a }));
  const other = issuesOf(Other, { c: EVIL.a });
  const settled = await Promise.allSettled(evil);
  const refused = settled.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(10);
  expect(refused[0]).toMatchObject({ code: "unavailable" });
  expect(await other).toEqual(["body.c: expected text that matches /^(a+)+$/"]);
});

test("EXE-83 a schema that cannot be used refuses nothing", async () => {
  expect(await issuesOf({ $ref: "http://example.test/schema" }, 1)).toEqual([]);
  expect(await issuesOf({ $ref: "#" }, 1)).toEqual([]);
  expect(await issuesOf({ type: "string", pattern: "(" }, "x")).toEqual([]);
});

test("EXE-83 what objects have of themselves is no member of an input", async () => {
  const schema = schemaOf(z.object({ constructor: z.string() }));
  expect(await issuesOf(schema, {})).toEqual([
    "body.constructor: expected a string, which is missing",
  ]);
  expect(await issuesOf(schema, { constructor: "x" })).toEqual([]);
});

const shapes = fc.dictionary(
  fc.constantFrom("a", "b", "c"),
  fc.constantFrom(z.string(), z.int(), z.boolean(), z.array(z.string()), z.null().optional()),
);

/** A member `__proto__` is refused before any schema is looked at. */
const encodable = fc
  .jsonValue({ maxDepth: 3 })
  .filter((value) => !JSON.stringify(value).includes("__proto__"));

test("EXE-83 the check and zod agree about plain JSON", async () => {
  await fc.assert(
    fc.asyncProperty(shapes, encodable, async (shape, value) => {
      const schema = z.object(shape);
      for (const input of [
        value,
        Object.fromEntries(Object.keys(shape).map((key) => [key, value])),
      ]) {
        const isTaken = (await issuesOf(schemaOf(schema), input)).length === 0;
        expect(isTaken).toBe(schema.safeParse(input).success);
      }
    }),
    { numRuns: 300 },
  );
});
