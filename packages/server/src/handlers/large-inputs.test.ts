import { type ErrorBody, type ExecutionRecord, referenceOf, routes } from "@engine/contract";
import { createApp } from "@engine/http";
import type { FastifyInstance } from "fastify";
import { expect, test, vi } from "vitest";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { basicHandlers } from "./basic.ts";
import { executionHandlers } from "./executions.ts";
import { looks } from "./looks.ts";

// A thread is started here, on a machine that may do other things.
vi.setConfig({ testTimeout: 60_000 });

const SOURCE = `import { workflow } from "@engine/sdk";
import * as z from "zod";
export const strict = workflow({ name: "strict", input: z.array(z.string()) }, async (input) => input);
`;

async function appOf(t: TestEngine): Promise<FastifyInstance> {
  await t.engine.catalog.register({ source: SOURCE }, { by: null });
  return createApp({
    routes: { executions: routes.executions, basic: routes.basic },
    handlers: {
      executions: executionHandlers(t.engine, 1),
      basic: basicHandlers(t.engine, 1),
    },
    looks: { executions: looks(t.engine).executions ?? {} },
    log: silent,
    ids: () => "r",
  });
}

interface Posted {
  readonly app: FastifyInstance;
  readonly url: string;
  readonly payload: string;
  readonly headers?: Record<string, string>;
}

async function post({ app, url, payload, headers }: Posted) {
  const all = { "content-type": "application/json", ...headers };
  const response = await app.inject({ method: "POST", url, payload, headers: all });
  return { status: response.statusCode, headers: response.headers, json: response.json() };
}

const START = "/workflows/default/hello/run/async";
const list = JSON.stringify(Array.from({ length: 100_000 }, (_, n) => [n]));
const medium = JSON.stringify({ text: "x".repeat(100_000), n: -0.5 });

async function started(app: FastifyInstance, payload: string): Promise<ExecutionRecord> {
  const { status, json } = await post({ app, url: START, payload });
  expect(status).toBe(202);
  return json;
}

test("EXE-49 an input over inline_value_bytes lies in the storage as it was sent, and records show it", async () => {
  await using t = await TestEngine.start();
  const app = await appOf(t);
  const payload = ` ${list.replace("[0]", '{"$rich":"😀", "a":1.50}')}\n`;
  const record = await started(app, payload);
  expect(record.input).toEqual(JSON.parse(payload));
  const { execution_id } = record;
  const row = await t.row(execution_id);
  const reference = referenceOf(row.input);
  expect(reference?.reference_id).toMatch(new RegExp(`^${execution_id}/`));
  expect(t.values.texts.get(reference?.reference_id ?? "")).toBe(payload);
  for (const url of [
    `/executions/${execution_id}`,
    `/inspect/${execution_id}`,
    `/workflows/default/hello/status/${execution_id}?detailed=true`,
  ]) {
    expect((await app.inject({ url })).json<ExecutionRecord>().input).toEqual(JSON.parse(payload));
  }
  const history = (await app.inject({ url: `/executions/${execution_id}/history` })).json();
  expect(history.execution.input).toEqual(JSON.parse(payload));
});

test("EXE-49 a large input below that stands in the row", async () => {
  await using t = await TestEngine.start();
  const app = await appOf(t);
  const { execution_id, input } = await started(app, medium);
  expect(input).toEqual(JSON.parse(medium));
  expect((await t.row(execution_id)).input).toEqual(JSON.parse(medium));
  expect(t.values.texts.size).toBe(0);
});

test("EXE-91 frames of a stream show a stored input too, each whole", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const app = await appOf(t);
  const { execution_id } = await started(app, list);
  const assigned = await worker.next("assign");
  expect(referenceOf(assigned.input)).toBeDefined();
  await worker.completed(assigned, "done");
  for (const more of ["", "&detailed=true", "&events=all"]) {
    const url = `/executions/${execution_id}?mode=stream${more}`;
    const { body } = await app.inject({ url, headers: { "last-event-id": "0" } });
    const records = [...body.matchAll(/^event: hello\.execution\.\w+\ndata: (.+)$/gm)];
    expect(records.length).toBe(4);
    for (const [, data = ""] of records) expect(JSON.parse(data).input).toEqual(JSON.parse(list));
  }
});

test("EXE-83 a large input is checked against its schema like any other, and refused with its places", async () => {
  await using t = await TestEngine.start();
  const app = await appOf(t);
  const url = "/workflows/default/strict/run/async";
  const strings = Array.from({ length: 20_000 }, (_, n) => `${n}`);
  expect((await post({ app, url, payload: JSON.stringify(strings) })).status).toBe(202);
  const payload = JSON.stringify([...strings, 5]);
  const { status, json } = await post({ app, url, payload });
  expect(status).toBe(422);
  expect((json as ErrorBody).error).toMatchObject({
    code: "invalid_input",
    details: {
      issues: [{ path: "body[20000]", message: "expected a string, got an integer" }],
    },
  });
  expect(t.values.texts.size).toBe(0);
});

test("a large input that the log cannot keep is refused, and one like a wrapping is kept as it is", async () => {
  await using t = await TestEngine.start();
  const app = await appOf(t);
  const text = "x".repeat(300_000);
  for (const [payload, message] of [
    [`{"a":{"__proto__":1},"b":"${text}"}`, "__proto__"],
    [`{"a":{"\\u005f_proto__":1},"b":"${text}"}`, "__proto__"],
    [`["${text}",${"[".repeat(101)}${"]".repeat(101)}]`, "deeper than 100"],
    [`{"$stored":${JSON.stringify(Array.from({ length: 60_000 }, () => ""))}}`, "$stored"],
  ] as const) {
    const { status, json } = await post({ app, url: START, payload });
    expect(status).toBe(422);
    expect((json as ErrorBody).error.message).toContain(message);
  }
  expect(t.values.texts.size).toBe(0);
  for (const key of ["$stored", "$rich"]) {
    const payload = JSON.stringify({ [key]: text });
    const { execution_id, input } = await started(app, payload);
    expect(input).toEqual({ [key]: text });
    const record = (await app.inject({ url: `/executions/${execution_id}` })).json();
    expect(record.input).toEqual({ [key]: text });
  }
});

test("EXE-84 a large input is told from another by its value, and what is not needed goes again", async () => {
  await using t = await TestEngine.start();
  const app = await appOf(t);
  const headers = { "idempotency-key": "k" };
  const value = { a: 1, b: "x".repeat(300_000) };
  const first = await post({ app, url: START, payload: JSON.stringify(value), headers });
  expect(first.status).toBe(202);
  const same = JSON.stringify({ b: value.b, a: 1 }, null, 2);
  const second = await post({ app, url: START, payload: same, headers });
  expect(second.headers["idempotency-replayed"]).toBe("true");
  expect((second.json as ExecutionRecord).execution_id).toBe(first.json.execution_id);
  const other = JSON.stringify({ ...value, a: 2 });
  const third = await post({ app, url: START, payload: other, headers });
  expect((third.json as ErrorBody).error.code).toBe("idempotency_mismatch");
  expect([...t.values.texts.keys()].map((id) => id.split("/")[0])).toEqual([
    first.json.execution_id,
  ]);
});

test("EXE-84 a large start repeated with its key finds its execution after its workflow was deleted", async () => {
  await using t = await TestEngine.start();
  const app = await appOf(t);
  const headers = { "idempotency-key": "once" };
  const first = await post({ app, url: START, payload: list, headers });
  expect(first.status).toBe(202);
  await t.engine.catalog.delete("default", "hello");
  const again = await post({ app, url: START, payload: list, headers });
  expect([again.status, again.json.execution_id]).toEqual([202, first.json.execution_id]);
  const other = await post({ app, url: START, payload: list.replace("[0]", "7"), headers });
  expect([other.status, other.json.error.code]).toEqual([422, "idempotency_mismatch"]);
  expect((await post({ app, url: START, payload: list })).status).toBe(404);
});

test("EXE-52 a large answer to a pause reaches the log as its place, and the value by itself", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const app = await appOf(t);
  const { execution_id } = await started(app, "1");
  await worker.paused(await worker.next("assign"));
  const url = `/workflows/default/hello/resume/${execution_id}/async`;
  expect((await post({ app, url, payload: list })).status).toBe(202);
  const assigned = await worker.next("assign");
  const answered = assigned.history.events.find(({ type }) => type === "TASK_COMPLETED");
  expect(referenceOf(answered?.value ?? null)?.reference_id).toContain(execution_id);
  const value = `/executions/${execution_id}/events/${answered?.seq}/value`;
  expect((await app.inject({ url: value })).json()).toEqual(JSON.parse(list));
});

test("EXE-53 a large signal is kept whole", async () => {
  await using t = await TestEngine.start();
  const app = await appOf(t);
  const { execution_id } = await started(app, "1");
  const url = `/executions/${execution_id}/signals/paid`;
  expect((await post({ app, url, payload: medium })).status).toBe(202);
  const kept = { count: 1, bytes: Buffer.byteLength(medium) };
  expect((await t.row(execution_id)).signals).toMatchObject(kept);
  const { items } = (await app.inject({ url: `/executions/${execution_id}/events` })).json();
  expect(items.at(-1)).toMatchObject({ value: { name: "paid", payload: JSON.parse(medium) } });
});

test("EXE-87 a fork has a large input of its own, given or taken over", async () => {
  await using t = await TestEngine.start();
  const app = await appOf(t);
  const { execution_id } = await started(app, list);
  const url = `/executions/${execution_id}/fork`;
  const taken = await post({ app, url, payload: "{}" });
  const given = await post({ app, url, payload: `{"input":${list.replace("[0]", "7")}}` });
  expect([taken.status, given.status]).toEqual([201, 201]);
  expect(taken.json.input).toEqual(JSON.parse(list));
  expect(given.json.input[0]).toBe(7);
  for (const { json } of [taken, given]) {
    const row = await t.row(json.execution_id);
    expect(referenceOf(row.input)?.reference_id).toContain(json.execution_id);
  }
});
