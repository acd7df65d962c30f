import { Config, type Json, type WorkflowRecord } from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { expect, test } from "vitest";
import { type Server, startServer } from "../server.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";

const FILE = "workflow.ts";

function source(name: string, result: number, namespace = "default"): { source: string } {
  return {
    source: `import { workflow } from "@engine/sdk";
export const it = workflow({ name: "${name}", namespace: "${namespace}" }, async () => ${result});
`,
  };
}

/** A server on a free port of this machine. */
async function startHttp(): Promise<
  AsyncDisposable & {
    readonly server: Server;
    send(method: string, path: string, body?: Json): Promise<{ status: number; body: unknown }>;
  }
> {
  const store = await openSqliteStore({
    path: ":memory:",
    synchronous: "normal",
    clock: Date.now,
  });
  const config = Config.parse({ server: { port: 0 } });
  const server = await startServer({ config, store, log: silent, version: "1.2.3" });
  return {
    server,
    async send(method, path, body) {
      const response = await fetch(server.url + path, {
        method,
        ...(body !== undefined && {
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await store.close();
    },
  };
}

const missing = (resource: string) => ({
  status: 404,
  body: { error: { code: "not_found", details: { resource } } },
});

test("EXE-70 a deleted version is 404 everywhere, and the latest live one becomes current", async () => {
  await using http = await startHttp();
  for (const result of [1, 2]) await http.send("POST", "/workflows", source("hello", result));
  await http.send("GET", "/workflows/default/hello");

  const deleted = await http.send("DELETE", "/workflows/default/hello?version=2");
  expect(deleted).toEqual({ status: 204, body: undefined });
  expect(await http.send("GET", "/workflows/default/hello/versions/2")).toMatchObject(
    missing("version"),
  );
  expect(await http.send("POST", "/workflows/hello/run/async?version=2", null)).toMatchObject(
    missing("version"),
  );
  const current = await http.send("GET", "/workflows/default/hello");
  expect(current).toMatchObject({ status: 200, body: { version: 1 } });
  const run = await http.send("POST", "/workflows/hello/run/async", null);
  expect(run).toMatchObject({ status: 202, body: { version: 1 } });
  const versions = await http.send("GET", "/workflows/default/hello/versions");
  expect(versions.body).toMatchObject({ total: 1, items: [{ version: 1 }] });
});

test("EXE-70 EXE-71 without a version all go: no list shows the workflow, nor its namespace", async () => {
  await using http = await startHttp();
  await http.send("POST", "/workflows", source("hello", 1));
  await http.send("POST", "/workflows", source("order", 1, "shop"));
  await http.send("POST", "/workflows", source("order", 2, "shop"));
  expect(await http.send("DELETE", "/workflows/shop/order")).toMatchObject({ status: 204 });

  for (const [method, path] of [
    ["GET", "/workflows/shop/order"],
    ["GET", "/workflows/shop/order?source=true"],
    ["GET", "/workflows/shop/order/versions"],
    ["GET", "/workflows/shop/order/versions/1"],
    ["POST", "/workflows/shop/order/run/sync"],
    ["DELETE", "/workflows/shop/order"],
  ] as const) {
    expect(await http.send(method, path), path).toMatchObject(missing("workflow"));
  }
  const workflows = await http.send("GET", "/workflows");
  expect(workflows.body).toMatchObject({ total: 1, items: [{ name: "hello" }] });
  const namespaces = await http.send("GET", "/namespaces");
  expect(namespaces.body).toMatchObject({ items: [{ namespace: "default", workflow_count: 1 }] });

  const again = await http.send("POST", "/workflows", source("order", 2, "shop"));
  expect(again).toMatchObject({ status: 201, body: { items: [{ version: 3, created: true }] } });
});

test("EXE-70 a version that is unknown or deleted already, or no number, deletes nothing", async () => {
  await using http = await startHttp();
  for (const result of [1, 2]) await http.send("POST", "/workflows", source("hello", result));
  await http.send("DELETE", "/workflows/default/hello?version=1");
  for (const version of [1, 3]) {
    const path = `/workflows/default/hello?version=${version}`;
    expect(await http.send("DELETE", path), path).toMatchObject(missing("version"));
  }
  expect(await http.send("DELETE", "/workflows/default/bye?version=1")).toMatchObject(
    missing("workflow"),
  );
  for (const version of ["0", "latest", "1.5"]) {
    expect(await http.send("DELETE", `/workflows/default/hello?version=${version}`)).toMatchObject({
      status: 422,
      body: { error: { code: "invalid_input" } },
    });
  }
  const current = await http.send("GET", "/workflows/default/hello");
  expect(current.body).toMatchObject({ version: 2 });
});

test("EXE-66 a dry run says the number the version would get, deleted ones counted", async () => {
  await using http = await startHttp();
  for (const result of [1, 2]) await http.send("POST", "/workflows", source("hello", result));
  await http.send("DELETE", "/workflows/default/hello?version=2");
  const dry = await http.send("POST", "/workflows?dry_run=true", source("hello", 2));
  expect(dry).toMatchObject({ status: 200, body: { items: [{ version: 3, created: true }] } });
  const same = await http.send("POST", "/workflows?dry_run=true", source("hello", 1));
  expect(same).toMatchObject({ status: 200, body: { items: [{ version: 1, created: false }] } });
  const versions = await http.send("GET", "/workflows/default/hello/versions");
  expect(versions.body).toMatchObject({ total: 1 });
});

test("EXE-66 of a file with one wrong workflow none is registered", async () => {
  await using http = await startHttp();
  const { source: text } = source("fine", 1);
  const wrong = `${text}export const no = workflow({ name: "no", timeout: "soon" }, async () => 1);\n`;
  const refused = await http.send("POST", "/workflows", { source: wrong });
  expect(refused).toMatchObject({
    status: 422,
    body: { error: { details: { issues: [{ rule: "invalid_option", file: FILE, line: 3 }] } } },
  });
  expect(await http.send("GET", "/workflows")).toMatchObject({ body: { total: 0 } });
});

test("EXE-65 EXE-68 a registration answers what was read, with warnings that refuse nothing", async () => {
  await using http = await startHttp();
  const registered = await http.send("POST", "/workflows", {
    source: `import { call, task, workflow } from "@engine/sdk";
const pay = task({ name: "pay", secrets: ["KEY"], risk: "external" }, async () => {});
export const w = workflow({ name: "w", timeout: "90s", durability: "durable", configs: ["c"] }, async (to: string) => {
  await pay(); await call("shop/order"); await call(to);
});`,
  });
  expect(registered).toMatchObject({
    status: 201,
    body: {
      items: [
        {
          tasks: [{ name: "pay", risk: "external", secrets: ["KEY"], sensitive: false }],
          nested_workflows: ["shop/order"],
          durability: "durable",
          timeout_seconds: 90,
          secrets: [],
          configs: ["c"],
        },
      ],
      warnings: [
        { rule: "dynamic_call", file: FILE, line: 4, expression: "to" },
        { rule: "secret_unknown", file: FILE, line: 2, expression: '["KEY"]' },
      ],
    },
  });
  const { body } = await http.send("GET", "/workflows/default/w");
  expect((body as WorkflowRecord).timeout_seconds).toBe(90);
});

test("EXE-67 EXE-70 an execution keeps the code of its version after it was deleted and registered anew", async () => {
  await using t = await TestEngine.start();
  const first = await t.worker("first");
  const { execution_id } = await t.run();
  const assigned = await first.next("assign");
  await first.paused(assigned);
  const { bundle } = await t.engine.catalog.loadModule(assigned.module.hash);

  await t.engine.catalog.delete("default", "hello");
  await t.engine.catalog.register(source("hello", 5), { by: null });
  expect((await t.engine.catalog.get("default", "hello")).version).toBe(2);
  await t.restart();

  const second = await t.worker("second");
  await t.engine.executions.resume({ execution_id, input: "go", by: null });
  const resumed = await second.next("assign");
  expect(resumed).toMatchObject({ version: 1, module: assigned.module });
  expect(await t.engine.catalog.loadModule(resumed.module.hash)).toMatchObject({ bundle });
  await second.completed(resumed, "done");
  const row = await t.row(execution_id);
  expect(row).toMatchObject({ state: "COMPLETED", version: 1, output: "done" });
});
