import { expect, test } from "vitest";
import { extractWorkflows } from "../workflows/extract.ts";

const HEAD = `import { task, workflow } from "@engine/sdk";
import * as z from "zod";
interface Order { id: string; cents: number; note?: string }
const Receipt = z.object({ ok: z.boolean() });
const greet = task({ name: "greet" }, async (name: string) => \`Hello, \${name}\`);
const charge = task({ name: "charge", output: Receipt }, async (order: Order) => ({ ok: true }));
const load = task({ name: "load" }, async (id: string): Promise<Order> => fetchOrder(id));
declare function fetchOrder(id: string): Promise<Order>;
declare function anything(): any;
function total(order: Order) { return order.cents * 2; }
`;

function outputOf(body: string): unknown {
  const source = `${HEAD}export const w = workflow({ name: "w" }, ${body});`;
  const { workflows, issues, warnings } = extractWorkflows({
    entry: "a.ts",
    files: [{ path: "a.ts", source }],
  });
  expect(issues).toEqual([]);
  expect(warnings).toEqual([]);
  const { $schema: _, ...schema } = workflows[0]?.output_schema ?? {};
  return workflows[0]?.output_schema ? schema : null;
}

const string = { type: "string" };
const number = { type: "number" };
const boolean = { type: "boolean" };
const receipt = expect.objectContaining({ properties: { ok: boolean }, required: ["ok"] });
const order = expect.objectContaining({ properties: { id: string, cents: number, note: string } });

test.each<[string, unknown]>([
  ["async (name: string) => greet(name)", string],
  ["async (name: string) => { return await greet(name); }", string],
  ["async (name: string) => { const text = await greet(name); return text; }", string],
  ["async (order: Order) => charge(order)", receipt],
  ["async (id: string) => load(id)", order],
  ["async (order: Order) => order", order],
  ["async (order: Order) => order.id", string],
  ["async (order: Order) => total(order)", number],
  ["async (n: number) => n + 1", number],
  ["async (n: number) => n > 1", boolean],
  ["async (n: number) => (n > 1 ? 'a' : 'b')", string],
  ["async (n: number) => { if (n > 1) return 'a'; return null; }", { type: ["string", "null"] }],
  ["async () => [1, 2]", { type: "array", items: number }],
  ["async () => anything() as Order", order],
  [
    "async () => { const all: string[] = []; all.push(anything()); return all; }",
    { type: "array", items: string },
  ],
  [
    "async (order: Order) => ({ id: order.id, at: anything() })",
    { type: "object", properties: { id: string, at: {} }, required: ["id"] },
  ],
])("EXE-63 a body that says nothing of it returns what its code tells: %s", (body, schema) => {
  expect(outputOf(body)).toEqual(schema);
});

test.each([
  ["what is computed elsewhere", "async () => anything()"],
  ["nothing", "async () => {}"],
  ["something in some cases", "async (n: number) => { if (n) return 1; }"],
  ["a promise within", "async (name: string) => [greet(name)][0]"],
  [
    "an object that grows",
    "async () => { const out = { a: 1 }; anything().push(out.a = 2); return out; }",
  ],
  ["a member that may be missing", "async (order: Order) => order.note"],
  ["a variable", "async () => { let n = 1; n = anything(); return n; }"],
  ["an object with a spread", "async (order: Order) => ({ ...order, more: 1 })"],
  ["itself", "async function again(n: number) { return n ? again(n - 1) : anything(); }"],
])("EXE-63 a body that returns %s has no output schema", (_what, body) => {
  expect(outputOf(body)).toBeNull();
});
