import { type ExecutionRecord, type Json, routes } from "@engine/contract";
import { createApp } from "@engine/http";
import { expect, test } from "vitest";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { basicHandlers } from "./basic.ts";
import { executionHandlers } from "./executions.ts";

/** The routes that start executions over a test engine. */
function appOf(t: TestEngine) {
  return createApp({
    routes: { executions: routes.executions, basic: routes.basic },
    handlers: {
      executions: executionHandlers(t.engine, 300),
      basic: basicHandlers(t.engine, 300),
    },
    log: silent,
    ids: () => "r",
  });
}

/** The same without a port. */
function http(t: TestEngine) {
  const app = appOf(t);
  return (method: "GET" | "POST" | "PUT", url: string, body?: Json, headers: object = {}) =>
    app.inject({
      method,
      url,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
}

const RUN = "/workflows/default/hello/run/async";
const key = (text: string) => ({ "idempotency-key": text });

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
}

async function total(t: TestEngine): Promise<number> {
  return (await t.engine.executions.list({ order: "created_asc", limit: 1, offset: 0 })).total;
}

test("EXE-84 I1 the same key gives the same execution, whatever the order of its input's keys", async () => {
  await using t = await TestEngine.start();
  const call = http(t);
  const first = await call("POST", RUN, { a: 1, b: [2] }, key("order 17"));
  const again = await call("POST", RUN, { b: [2], a: 1 }, key("order 17"));
  expect(again.statusCode).toBe(202);
  expect(again.json().execution_id).toBe(first.json().execution_id);
  expect(first.headers["idempotency-replayed"]).toBeUndefined();
  expect(again.headers["idempotency-replayed"]).toBe("true");
  expect(await total(t)).toBe(1);
});

test("EXE-84 of racing requests with one key one creates", async () => {
  await using t = await TestEngine.start();
  const call = http(t);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call("POST", RUN, "x", key("k"))),
  );
  expect(new Set(answers.map((answer) => answer.json().execution_id)).size).toBe(1);
  const replayed = answers.filter(({ headers }) => headers["idempotency-replayed"] === "true");
  expect(replayed).toHaveLength(19);
  expect(await total(t)).toBe(1);
});

test("EXE-84 a known key with another input or version is refused and names the execution", async () => {
  await using t = await TestEngine.start();
  const call = http(t);
  const { execution_id } = (await call("POST", RUN, "x", key("k"))).json();
  for (const [url, body] of [
    [RUN, "y"],
    [`${RUN}?version=1`, "x"],
  ] as const) {
    const refused = await call("POST", url, body, key("k"));
    expect(refused.statusCode).toBe(422);
    expect(refused.json().error).toMatchObject({
      code: "idempotency_mismatch",
      details: { execution_id },
    });
  }
  expect(await total(t)).toBe(1);
});

test("EXE-84 a key is of its workflow alone, and shared with the basic API", async () => {
  await using t = await TestEngine.start();
  const source = `import { workflow } from "@engine/sdk";
export const other = workflow({ name: "other" }, async (input) => input);
`;
  await t.engine.catalog.register({ source }, { by: null });
  const call = http(t);
  const worker = await t.worker();
  const first = await call("POST", RUN, "x", key("k"));
  const elsewhere = await call("POST", "/workflows/default/other/run/async", "x", key("k"));
  expect(elsewhere.json().execution_id).not.toBe(first.json().execution_id);
  await worker.completed(await worker.next("assign"), "done");
  const basic = await call("POST", "/hello", "x", key("k"));
  expect(basic.statusCode).toBe(200);
  expect(basic.json()).toMatchObject({ execution_id: first.json().execution_id, output: "done" });
  expect(basic.headers["idempotency-replayed"]).toBe("true");
});

test("EXE-84 a key is answered in the request's own mode: it waits for the execution that is there", async () => {
  await using t = await TestEngine.start();
  const call = http(t);
  const worker = await t.worker();
  await call("POST", RUN, "x", key("k"));
  const waiting = call("POST", "/workflows/default/hello/run/sync", "x", key("k"));
  await worker.completed(await worker.next("assign"), "done");
  expect((await waiting).json()).toMatchObject({ state: "COMPLETED", output: "done" });
  const stream = await call("POST", "/workflows/default/hello/run/stream", "x", key("k"));
  expect(stream.body).toContain("event: hello.execution.completed");
});

test.each(["", "é", "x".repeat(256), "a\u0001b"])("EXE-84 the key %j is refused", async (text) => {
  await using t = await TestEngine.start();
  const { executions } = t.engine;
  const start = { namespace: "default", workflow: "hello", input: 1, by: null };
  const request = { ...start, trigger: { kind: "api" as const }, idempotency_key: text };
  await expect(executions.start(request)).rejects.toMatchObject({
    code: "bad_request",
    status: 400,
  });
  expect(await total(t)).toBe(0);
});

test.each([
  ["priority=11", "query.priority"],
  ["start_at=tomorrow", "query.start_at"],
  ["park_ttl=-1", "query.park_ttl"],
  ["name=%20", "query.name"],
  ["version=0", "query.version"],
  ["nice=1", "query.nice"],
])("EXE-80 EXE-79 a run with ?%s is refused by %s, and nothing is created", async (query, path) => {
  await using t = await TestEngine.start();
  const refused = await http(t)("POST", `${RUN}?${query}`, 1);
  expect(refused.statusCode).toBe(422);
  expect(refused.json().error.details.issues).toMatchObject([{ path }]);
  expect(await total(t)).toBe(0);
});

test("DSP-7 a malformed worker name in a header is refused by its name", async () => {
  await using t = await TestEngine.start();
  const headers = { "x-engine-preferred-worker": "no name!" };
  const refused = await http(t)("POST", RUN, 1, headers);
  expect(refused.statusCode).toBe(422);
  expect(refused.json().error.details.issues).toMatchObject([
    { path: "headers.x-engine-preferred-worker" },
  ]);
});

test("EXE-80 start_at without an offset is UTC", async () => {
  await using t = await TestEngine.start();
  const answer = await http(t)("POST", `${RUN}?start_at=2026-01-01T00:01:00`, 1);
  const { execution_id } = answer.json<ExecutionRecord>();
  expect((await t.row(execution_id)).not_before).toBe(Date.UTC(2026, 0, 1, 0, 1));
});

test("EXE-78 an execution is renamed in whatever state it is, and found by its name", async () => {
  await using t = await TestEngine.start();
  const call = http(t);
  const worker = await t.worker();
  const { execution_id } = (await call("POST", RUN, "x")).json();
  await worker.completed(await worker.next("assign"), 1);
  const url = `/executions/${execution_id}/name`;
  const renamed = await call("PUT", url, { name: "  Order 17 " });
  expect(renamed.json()).toMatchObject({ name: "Order 17", state: "COMPLETED" });
  expect((await call("GET", "/executions?name=order")).json()).toMatchObject({ total: 1 });
  expect((await call("PUT", url, { name: null })).json()).toMatchObject({ name: null });
  expect((await call("PUT", url, { name: "" })).statusCode).toBe(422);
  expect((await call("PUT", "/executions/nobody/name", { name: "x" })).statusCode).toBe(404);
});

test("EXE-85 a list is paged by the last id and filtered by times", async () => {
  await using t = await TestEngine.start();
  const call = http(t);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    ids.unshift((await call("POST", RUN, n)).json().execution_id);
    t.time.now += 1_000;
  }
  const page = async (query: string) => {
    const { items } = (await call("GET", `/executions?${query}`)).json();
    return items.map(({ execution_id }: ExecutionRecord) => execution_id);
  };
  expect(await page("limit=2")).toEqual(ids.slice(0, 2));
  expect(await page(`limit=2&before=${ids[1]}`)).toEqual(ids.slice(2, 4));
  const since = new Date(t.time.now - 2_500).toISOString();
  expect(await page(`created_after=${since}`)).toEqual(ids.slice(0, 2));
  expect(await page(`created_before=${since}`)).toEqual(ids.slice(2));
  expect(await page(`finished_before=${since}`)).toEqual([]);
});

test("EXE-81 a caller who leaves cancels only what was to be cancelled with them", async () => {
  await using t = await TestEngine.start();
  await using app = appOf(t);
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  const newest = { order: "created_desc", limit: 1, offset: 0 } as const;
  /** Of an execution that nobody runs, whose caller gave up waiting for it. */
  const leave = async (query: string) => {
    const before = await total(t);
    const left = new AbortController();
    const run = { method: "POST", signal: left.signal };
    const answer = fetch(`${address}/workflows/default/hello/run/sync${query}`, run);
    await until(async () => (await total(t)) > before);
    left.abort();
    await expect(answer).rejects.toThrow("aborted");
    return (await t.engine.executions.list(newest)).items[0]?.execution_id ?? "";
  };
  const kept = await leave("");
  const cancelled = await leave("?cancel_on_disconnect=true");
  await until(async () => (await t.row(cancelled)).state === "CANCELLED");
  expect(await t.row(kept)).toMatchObject({ state: "CREATED", cancelling: null });

  // It has ended: nothing to say, and nothing thrown.
  await t.engine.executions.cancelForLeaver(cancelled, null);
});

test("EXE-86 events are read by their type", async () => {
  await using t = await TestEngine.start();
  const call = http(t);
  const worker = await t.worker();
  const { execution_id } = (await call("POST", RUN, "x")).json();
  await worker.completed(await worker.next("assign"), 1);
  const url = `/executions/${execution_id}/events`;
  const { items, total } = (
    await call("GET", `${url}?type=WORKFLOW_CREATED&type=WORKFLOW_COMPLETED`)
  ).json();
  expect(items.map(({ type }: { type: string }) => type)).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_COMPLETED",
  ]);
  expect(total).toBe(2);
  expect((await call("GET", `${url}?type=NOPE`)).statusCode).toBe(422);
});
