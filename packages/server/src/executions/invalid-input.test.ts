import { Config, type Json } from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { expect, test } from "vitest";
import { startServer } from "../server.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";

const ORDERS = (qty: string) => `import { workflow } from "@engine/sdk";
import * as z from "zod";
const Order = z.object({ sku: z.string(), qty: ${qty}, note: z.email().default("a@b.c") });
export const buy = workflow({ name: "buy", input: Order }, async (order): Promise<{ total: number }> => ({ total: 1 }));
`;
const PLAIN = `import { workflow } from "@engine/sdk";
export const buy = workflow({ name: "buy" }, async (input: { id: string }) => input);
`;

/** A server on a free port of this machine, with a workflow that takes orders. */
async function startHttp() {
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  const config = Config.parse({ server: { port: 0 } });
  const server = await startServer({ config, store, log: silent, version: "1.2.3" });
  const send = async (method: string, path: string, body?: Json) => {
    const response = await fetch(server.url + path, {
      method,
      ...(body !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  await send("POST", "/workflows", { source: ORDERS("z.int().positive()") });
  return {
    send,
    async [Symbol.asyncDispose]() {
      await server.close();
      await store.close();
    },
  };
}

test("EXE-63 EXE-68 the record of a workflow has the schemas of its input and output", async () => {
  await using http = await startHttp();
  const { body } = await http.send("GET", "/workflows/default/buy");
  const $schema = "https://json-schema.org/draft/2020-12/schema";
  expect(body).toMatchObject({
    input_schema: {
      $schema,
      type: "object",
      properties: { sku: { type: "string" }, qty: { type: "integer", exclusiveMinimum: 0 } },
      required: ["sku", "qty"],
    },
    output_schema: { $schema, type: "object", properties: { total: { type: "number" } } },
  });
});

test.each([
  ["/workflows/default/buy/run/sync"],
  ["/workflows/default/buy/run/async"],
  ["/workflows/default/buy/run/stream"],
  ["/workflows/buy/run/async"],
  ["/buy"],
])("EXE-83 POST %s refuses an input that does not fit, and writes nothing", async (path) => {
  await using http = await startHttp();
  const { status, body } = await http.send("POST", path, { sku: 5, qty: 0 });
  expect({ status, body }).toMatchObject({
    status: 422,
    body: {
      error: {
        code: "invalid_input",
        message: "body.sku: expected a string, got an integer (and 1 more)",
        details: {
          issues: [
            { path: "body.sku", message: "expected a string, got an integer" },
            { path: "body.qty", message: "expected more than 0" },
          ],
        },
      },
    },
  });
  const list = await http.send("GET", "/executions");
  expect(list.body).toMatchObject({ items: [], total: 0 });
});

test("EXE-83 an input that fits is stored as it came: no default is filled in", async () => {
  await using http = await startHttp();
  const input = { sku: "a", qty: 1, more: true };
  const { status, body } = await http.send("POST", "/workflows/default/buy/run/async", input);
  expect({ status, body }).toMatchObject({ status: 202, body: { state: "CREATED" } });
  const { body: record } = await http.send("GET", `/executions/${body["execution_id"]}`);
  expect(record).toMatchObject({ input });
});

test("EXE-67 another input schema is another version, and each start is checked by its own", async () => {
  await using http = await startHttp();
  const again = await http.send("POST", "/workflows", { source: ORDERS("z.int().positive()") });
  expect(again.body).toMatchObject({ items: [{ version: 1, created: false }] });
  const next = await http.send("POST", "/workflows", { source: ORDERS("z.int().min(10)") });
  expect(next.body).toMatchObject({ items: [{ version: 2, created: true }] });
  const run = (query: string) =>
    http.send("POST", `/workflows/default/buy/run/async${query}`, { sku: "a", qty: 5 });
  expect((await run("")).status).toBe(422);
  expect((await run("?version=1")).status).toBe(202);
});

test("EXE-67 a type that changes makes a version, though its bundle stays the same", async () => {
  await using http = await startHttp();
  await http.send("POST", "/workflows", { source: PLAIN });
  const typed = await http.send("POST", "/workflows", {
    source: PLAIN.replace("string", "number"),
  });
  expect(typed.body).toMatchObject({ items: [{ version: 3, created: true }] });
});

test("EXE-83 EXE-87 a fork with a new input, or onto another version, is checked; one with a cut is not", async () => {
  await using t = await TestEngine.start();
  const { catalog, executions } = t.engine;
  await catalog.register({ source: ORDERS("z.int()") }, { by: null });
  const { row } = await executions.start({
    namespace: "default",
    workflow: "buy",
    input: { sku: "a", qty: 1 },
    trigger: { kind: "api" },
    by: null,
  });
  await catalog.register({ source: ORDERS("z.string()") }, { by: null });
  const { execution_id } = row;
  const fork = (rest: object) => executions.fork({ execution_id, by: null, ...rest });

  await expect(fork({ input: { sku: "a", qty: "1" } })).rejects.toMatchObject({
    code: "invalid_input",
    details: { issues: [{ path: "body.input.qty" }] },
  });
  await expect(fork({ version: 2 })).rejects.toMatchObject({
    code: "invalid_input",
    details: { issues: [{ path: "input.qty" }] },
  });
  expect((await fork({ input: { sku: "b", qty: 2 } })).row).toMatchObject({ version: 1 });
  expect((await fork({ version: 2, input: { sku: "b", qty: "2" } })).row).toMatchObject({
    version: 2,
  });
  expect((await fork({})).row).toMatchObject({ version: 1 });
  expect((await fork({ version: 2, from_seq: 1 })).row).toMatchObject({ version: 2 });
  const page = { order: "created_asc", limit: 9, offset: 0 } as const;
  expect((await executions.list(page)).total).toBe(5);

  await catalog.delete("default", "buy", 1);
  await expect(fork({ input: { sku: "a" } })).rejects.toMatchObject({ code: "invalid_input" });
});
