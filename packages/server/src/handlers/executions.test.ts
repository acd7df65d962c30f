import { type ExecutionRecord, History, type Json, routes, store } from "@engine/contract";
import { createApp } from "@engine/http";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, silent, TestEngine } from "../testing/start-engine.ts";
import { executionHandlers } from "./executions.ts";

/** The routes of executions over a test engine, without a port. */
function http(t: TestEngine) {
  const app = createApp({
    routes: { executions: routes.executions },
    handlers: { executions: executionHandlers(t.engine, 300) },
    log: silent,
    ids: () => "r",
  });
  return {
    get: (url: string) => app.inject({ method: "GET", url }),
    post: (url: string, body: Json = null) =>
      app.inject({
        method: "POST",
        url,
        headers: { "content-type": "application/json" },
        payload: JSON.stringify(body),
      }),
  };
}

async function running(t: TestEngine, worker: ScriptedWorker) {
  await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  return assigned;
}

test("EXE-78 cancel answers 202 at once with the record and where to read it", async () => {
  await using t = await TestEngine.start();
  const { post, get } = http(t);
  const { execution_id } = await running(t, await t.worker());
  const path = `/workflows/default/hello/cancel/${execution_id}`;
  const answer = await post(path, { reason: "wrong order" });
  expect(answer.statusCode).toBe(202);
  expect(answer.json()).toMatchObject({ execution_id, state: "CANCELLING", error: null });
  expect(answer.headers).toMatchObject({
    "x-engine-execution-id": execution_id,
    location: `/workflows/default/hello/status/${execution_id}`,
  });
  const [event] = (await t.store.log.read(execution_id)).slice(-1);
  expect(event?.event.meta).toMatchObject({ cause: "request", reason: "wrong order" });
  // EXE-21: again is accepted, too; a link does it as well.
  expect((await get(path)).statusCode).toBe(202);
});

test("EXE-78 a sync cancel waits: 200 at the end, 202 at its deadline", async () => {
  await using t = await TestEngine.start();
  const { post, get } = http(t);
  const worker = await t.worker();
  const assigned = await running(t, worker);
  const path = `/workflows/default/hello/cancel/${assigned.execution_id}?mode=sync`;
  const [short, long] = [get(`${path}&timeout=2`), post(`${path}&detailed=true`)];
  await settled();
  await t.time.advance(2000);
  expect((await short).statusCode).toBe(202);
  await worker.checkpoint(assigned, 4, "CANCELLED", [
    worker.event(assigned, "WORKFLOW_CANCELLED", null),
  ]);
  const answer = await long;
  expect(answer.statusCode).toBe(200);
  const record = answer.json<ExecutionRecord>();
  expect(record).toMatchObject({
    state: "CANCELLED",
    error: { code: "workflow_cancelled", details: { cause: "request" } },
  });
  expect(record.events?.at(-1)).toMatchObject({ type: "WORKFLOW_CANCELLED" });

  const late = await post(path);
  expect(late.statusCode).toBe(409);
  expect(late.json()).toMatchObject({ error: { code: "execution_finished" } });
});

test("EXE-79 a cancel of another workflow's execution, or with a body that says nothing known, is refused", async () => {
  await using t = await TestEngine.start();
  const { post } = http(t);
  const { execution_id } = await t.run();
  expect((await post(`/workflows/default/other/cancel/${execution_id}`)).statusCode).toBe(404);
  const path = `/workflows/default/hello/cancel/${execution_id}`;
  expect((await post(path, { because: "x" })).statusCode).toBe(422);
  expect((await post(`${path}?mode=stream`)).statusCode).toBe(422);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED" });
});

test("EXE-81 reading with mode=sync waits as a run does and answers as one", async () => {
  await using t = await TestEngine.start();
  const { get } = http(t);
  const worker = await t.worker();
  const assigned = await running(t, worker);
  const path = `/executions/${assigned.execution_id}`;
  const short = get(`${path}?mode=sync&timeout=1`);
  const long = get(`${path}?mode=sync&detailed=true`);
  await settled();
  await t.time.advance(1000);
  expect((await short).statusCode).toBe(202);
  await worker.checkpoint(assigned, 3, "FAILED", [
    worker.event(assigned, "WORKFLOW_FAILED", {
      type: "Error",
      code: null,
      message: "no luck",
      retryable: false,
      details: null,
      cause: null,
      attempts: 1,
      task_call_id: null,
    }),
  ]);
  const failed = await long;
  expect(failed.statusCode).toBe(500);
  expect(failed.json()).toMatchObject({ error: { code: "workflow_failed", message: "no luck" } });
  expect(failed.json<ExecutionRecord>().events).toHaveLength(4);
  // Without the mode a read is a read.
  expect((await get(path)).statusCode).toBe(200);
  expect((await get("/executions/nobody?mode=sync")).statusCode).toBe(404);
});

test("EXE-78 a signal answers 202 with the number of its event; no body is the payload null", async () => {
  await using t = await TestEngine.start();
  const { post } = http(t);
  const { execution_id } = await t.run();
  const answer = await post(`/executions/${execution_id}/signals/paid`, { cents: 900 });
  expect(answer.statusCode).toBe(202);
  expect(answer.json()).toEqual({ execution_id, name: "paid", seq: 2 });
  await post(`/executions/${execution_id}/signals/paid`);
  const paid = { name: "paid", count: 2 };
  expect((await t.row(execution_id)).signals).toEqual({ count: 2, bytes: 17, names: [paid] });
  const refused = await post(`/executions/${execution_id}/signals/engine.stop`);
  expect(refused.statusCode).toBe(422);
});

test("EXE-53 signals over the limit are 409 with what was reached and the keys to set", async () => {
  await using t = await TestEngine.start({ executions: { max_kept_signals: 2 } });
  const { post } = http(t);
  const { execution_id } = await t.run();
  const path = `/executions/${execution_id}/signals/paid`;
  for (const payload of [1, 2]) expect((await post(path, payload)).statusCode).toBe(202);
  const { head } = await t.row(execution_id);
  const refused = await post(path, 3);
  expect(refused.statusCode).toBe(409);
  expect(refused.json()).toMatchObject({
    error: {
      code: "too_many_signals",
      message: expect.stringContaining("at most 2 signals (executions.max_kept_signals)"),
      details: { max_kept_signals: 2, max_kept_signal_bytes: 67_108_864 },
    },
  });
  expect((await t.row(execution_id)).head).toBe(head);
});

test("EXE-34 EXE-53 signals make no log longer than max_events", async () => {
  await using t = await TestEngine.start({ executions: { max_events: 100 } });
  const { post } = http(t);
  const { execution_id } = await t.run();
  const answers: number[] = [];
  for (let n = 0; n < 110; n++) {
    answers.push((await post(`/executions/${execution_id}/signals/paid`)).statusCode);
  }
  expect(answers.filter((status) => status === 202)).toHaveLength(97);
  expect(new Set(answers.slice(97))).toEqual(new Set([409]));
  expect((await t.row(execution_id)).head).toBe(98);
});

test("EXE-87 a fork answers 201 with the record of the copy and where to read it", async () => {
  await using t = await TestEngine.start();
  const { post } = http(t);
  const worker = await t.worker();
  const { execution_id: source } = await running(t, worker);
  const answer = await post(`/executions/${source}/fork`, { from_seq: 3, name: "again" });
  expect(answer.statusCode).toBe(201);
  const record = answer.json<ExecutionRecord>();
  expect(record).toMatchObject({
    state: "RESUMING",
    name: "again",
    forked_from: { execution_id: source, seq: 3 },
  });
  expect(answer.headers).toMatchObject({
    "x-engine-execution-id": record.execution_id,
    location: record.status_url,
  });
  expect((await post(`/executions/${source}/fork`)).json()).toMatchObject({ state: "CREATED" });
  const refused = await post(`/executions/${source}/fork`, { from_seq: 3, input: null });
  expect(refused.statusCode).toBe(422);
  expect((await post(`/executions/${source}/fork`, { from_seq: 0 })).statusCode).toBe(422);
});

test("EXE-88 the history has everything that a replay needs, typed", async () => {
  await using t = await TestEngine.start();
  const { get } = http(t);
  const worker = await t.worker();
  const assigned = await running(t, worker);
  const date = JSON.parse(store(new Map([["at", new Date(0)]]), "output").text) as Json;
  await worker.checkpoint(assigned, 3, "COMPLETED", [
    worker.event(assigned, "WORKFLOW_COMPLETED", date),
  ]);
  const { execution_id } = assigned;
  const answer = await get(`/executions/${execution_id}/history`);
  expect(answer.statusCode).toBe(200);
  const history = History.parse(answer.json());
  expect(history).toMatchObject({
    format: 1,
    execution: { execution_id, namespace: "default", workflow: "hello", state: "COMPLETED" },
    seed: assigned.seed,
  });
  expect(history.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  expect(history.events[3]).toMatchObject({ value: date, recorded_at: expect.any(String) });
  expect((await get("/executions/nobody/history")).statusCode).toBe(404);
});

test("EXE-49 EXE-86 a record shows an output that is kept elsewhere, and an event's value is read whole", async () => {
  await using t = await TestEngine.start();
  const { get, post } = http(t);
  const worker = await t.worker();
  const run = post("/workflows/hello/run/sync");
  const assigned = await worker.next("assign");
  const { execution_id } = assigned;
  const $stored = await t.values.save(execution_id, JSON.stringify({ large: true }));
  await worker.completed(assigned, { $stored } as unknown as Json);
  const output = { large: true };
  expect((await run).json()).toMatchObject({ output });
  expect((await get(`/executions/${execution_id}`)).json()).toMatchObject({ output });
  expect((await get(`/workflows/default/hello/status/${execution_id}`)).json()).toMatchObject({
    output,
  });
  const value = await get(`/executions/${execution_id}/events/4/value`);
  expect([value.statusCode, value.json()]).toEqual([200, output]);
  for (const seq of ["5", "0", "-1", "x", "4.0"]) {
    expect((await get(`/executions/${execution_id}/events/${seq}/value`)).statusCode).toBe(404);
  }
});

test("EXE-49 EXE-91 a stream's last frame shows an output that is kept elsewhere, or its envelope when it is gone", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  for (const isGone of [false, true]) {
    const { follower } = await t.engine.executions.startAndFollow(hello());
    const assigned = await worker.next("assign");
    const $stored = await t.values.save(assigned.execution_id, '"large"');
    if (isGone) t.values.texts.clear();
    await worker.completed(assigned, { $stored } as unknown as Json);
    let last: unknown;
    for await (const part of follower.frames()) last = part;
    expect(last).toMatchObject({ data: { output: isGone ? { $stored } : "large" } });
  }
});

test("EXE-85 a list is of the children of one execution, or of those that are nobody's child", async () => {
  await using t = await TestEngine.start();
  const { get } = http(t);
  const worker = await t.worker();
  const { execution_id: other } = await t.run();
  await worker.next("assign");
  await t.run();
  const parent = await worker.next("assign");
  const call = { workflow: "default/hello", input: null, wait: true, detach: false };
  await worker.started(parent, [worker.callEvent("TASK_STARTED", "call~1", call)]);
  const { execution_id: child } = await worker.next("assign");
  const ids = async (path: string) => {
    const answer = await get(path);
    expect(answer.statusCode).toBe(200);
    const { items, total } = answer.json<{ items: ExecutionRecord[]; total: number }>();
    return [...items.map(({ execution_id }) => execution_id), total];
  };
  const { execution_id } = parent;
  for (const path of ["/executions", "/workflows/default/hello/executions"]) {
    expect(await ids(`${path}?parent_id=${execution_id}`)).toEqual([child, 1]);
    expect(await ids(`${path}?parent_id=${other}`)).toEqual([0]);
    expect(await ids(`${path}?root=true`)).toEqual([execution_id, other, 2]);
    expect(await ids(`${path}?root=false`)).toEqual([child, execution_id, other, 3]);
    expect((await get(`${path}?root=yes`)).statusCode).toBe(422);
    expect((await get(`${path}?parent_id=`)).statusCode).toBe(422);
  }
});
