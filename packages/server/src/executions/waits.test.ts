import { decideCheckpoint, type Json, store } from "@engine/contract";
import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";
import { NOBODY } from "./principal-refs.ts";
import { toRecord } from "./record.ts";

async function signalOf(t: TestEngine, execution_id: string, payload: Json, name = "paid") {
  return t.engine.executions.signal({ execution_id, name, payload, by: null });
}

/** The beginning of `signal(name)`. */
function waiting(worker: ScriptedWorker, id = "signal~1", more: object = {}) {
  return worker.callEvent("TASK_STARTED", id, { name: "paid", ...more });
}

/** An execution at rest at a pause of these terms. */
async function pausedWith(t: TestEngine, worker: ScriptedWorker, terms: { [key: string]: Json }) {
  await t.run();
  const assigned = await worker.next("assign");
  const value = { name: "answer", output: "what?", ...terms };
  await worker.checkpoint(assigned, assigned.head, "PAUSED", [
    worker.begin(assigned),
    worker.pauseEvent("TASK_STARTED", value),
    worker.pauseEvent("TASK_PAUSED", value),
    worker.event(assigned, "WORKFLOW_PAUSED", value),
  ]);
  return assigned;
}

const undefinedValue = JSON.parse(store(undefined, "output").text);

test("EXE-53 a signal to a call that waits is its outcome, and wakes a parked execution", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.parked(await worker.next("assign"), [waiting(worker)]);
  expect(await t.row(execution_id)).toMatchObject({ waits: [{ kind: "signal", name: "paid" }] });
  expect(await signalOf(t, execution_id, { cents: 900 })).toBe(5);
  const again = await worker.next("assign");
  expect(again.history.events.slice(-4)).toMatchObject([
    { seq: 5, type: "WORKFLOW_SIGNALED", value: { name: "paid", payload: { cents: 900 } } },
    { type: "TASK_COMPLETED", source_id: "signal~1", value: { cents: 900 } },
    { type: "WORKFLOW_RESUMING", meta: { cause: "signal" } },
    { type: "WORKFLOW_CLAIMED" },
  ]);
});

test("EXE-15 EXE-53 a signal reaches a local run, which no worker is given", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const execution_id = "01900000-0000-7000-8000-00000000000a";
  const of = { execution_id, workflow: "hello" };
  const claimant = { worker: "local", session: "process", now: t.time.now };
  await t.store.executions.create(
    {
      ...{ execution_id, namespace: "default", workflow: "hello" },
      ...{ version: null, module_hash: null, input: null, by: null, seed: "seed" },
      trigger: { kind: "local" },
      now: t.time.now,
    },
    claimant,
  );
  const events = [worker.event(of, "WORKFLOW_STARTED", null), waiting(worker)];
  await t.store.executions.change(execution_id, (row, _, findKept) => {
    const by = { session: "process", now: t.time.now, cancel_timeout_ms: 1000 };
    const sender = { ...by, calls: new Map(), findKept };
    const parked = { generation: 1, base_seq: 2, state: "RUNNING" as const, waiting: [] };
    const verdict = decideCheckpoint(row, { ...parked, events }, sender, []);
    return verdict.kind === "append" ? verdict : undefined;
  });

  expect(await signalOf(t, execution_id, { cents: 900 })).toBe(5);
  expect((await t.types(execution_id)).slice(4)).toEqual([
    "WORKFLOW_SIGNALED",
    "TASK_COMPLETED",
    "WORKFLOW_RESUMING",
  ]);
  await t.time.advance(15_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "RESUMING", session: null });
  expect(worker.heard).not.toContain("assign");
});

test("EXE-53 signals that came early wait in order, and each is consumed once", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await signalOf(t, execution_id, 1);
  await signalOf(t, execution_id, "other", "shipped");
  await signalOf(t, execution_id, 2);
  for (let seq = 3; seq <= 5; seq++) await worker.next("events");
  const known = { ...assigned, head: 5 };
  const answer = await worker.started(known, [waiting(worker), waiting(worker, "signal~2")]);
  expect(answer).toMatchObject({ seq: 8 });
  const pushed = await worker.next("events");
  expect(pushed.base_seq).toBe(8);
  expect(pushed.events).toMatchObject([
    { type: "TASK_COMPLETED", source_id: "signal~1", value: 1 },
    { type: "TASK_COMPLETED", source_id: "signal~2", value: 2 },
  ]);
  expect(await t.row(execution_id)).toMatchObject({
    waits: [],
    signals: { count: 1, names: [{ name: "shipped", count: 1 }] },
  });
});

test("EXE-53 an early signal that ends the wait of a parking execution sends it on at once", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await signalOf(t, execution_id, 1);
  await worker.next("events");
  const answer = await worker.parked({ ...assigned, head: 3 }, [waiting(worker)]);
  expect(answer).toMatchObject({ seq: 5, state: "RESUMING" });
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("EXE-53 a wait that times out consumes nothing: the next one gets the signal", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const until = new Date(t.time.now + 5000).toISOString();
  await worker.parked(await worker.next("assign"), [waiting(worker, "signal~1", { until })]);
  await t.time.advance(5000);
  const again = await worker.next("assign");
  expect(again.history.events).toContainEqual(
    expect.objectContaining({ type: "TASK_COMPLETED", value: undefinedValue }),
  );
  await signalOf(t, execution_id, "late");
  await worker.next("events");
  await worker.started({ ...again, head: again.head + 1 }, [waiting(worker, "signal~2")]);
  expect((await worker.next("events")).events).toMatchObject([
    { type: "TASK_COMPLETED", source_id: "signal~2", value: "late" },
  ]);
});

test("EXE-8 EXE-53 signals of a bad name, to nobody, or after the end are refused", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  for (const name of ["engine.stop", "", "two words", "x".repeat(129)]) {
    await expect(signalOf(t, execution_id, null, name)).rejects.toMatchObject({
      code: "invalid_input",
      details: { issues: [{ path: "path.name" }] },
    });
  }
  await expect(signalOf(t, "nobody", 1)).rejects.toMatchObject({ code: "not_found" });
  await worker.completed(await worker.next("assign"), 1);
  await expect(signalOf(t, execution_id, 1)).rejects.toMatchObject({ code: "execution_finished" });
});

test("EXE-51 a pause with a time ends with undefined when nobody answered", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const until = new Date(t.time.now + 10_000).toISOString();
  const { execution_id } = await pausedWith(t, worker, { until });
  const record = toRecord(await t.row(execution_id), NOBODY);
  expect(record).toMatchObject({
    state: "PAUSED",
    waiting: [{ kind: "pause", name: "answer", output: "what?", until }],
    pause: { name: "answer", value: "what?" },
  });
  await t.time.advance(10_000);
  const again = await worker.next("assign");
  expect(again.history.events.slice(-4)).toMatchObject([
    { type: "TASK_RESUMED", value: { $rich: expect.anything() } },
    { type: "TASK_COMPLETED", value: undefinedValue },
    { type: "WORKFLOW_RESUMING", value: null, meta: { cause: "timer" } },
    { type: "WORKFLOW_CLAIMED" },
  ]);
});

test("EXE-51 a resume with null against a wake: the first commit wins, null is an input", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const outcomes = async (execution_id: string) => {
    const log = (await t.store.log.read(execution_id)).map(({ event }) => event);
    return log.filter(({ type }) => type === "TASK_COMPLETED").map(({ value }) => value);
  };
  const inTenSeconds = () => ({ until: new Date(t.time.now + 10_000).toISOString() });
  const answered = (await pausedWith(t, worker, inTenSeconds())).execution_id;
  await t.engine.executions.resume({ execution_id: answered, input: null, by: null });
  await t.time.advance(20_000);
  expect(await outcomes(answered)).toEqual([null]);
  await worker.completed(await worker.next("assign"), "done");

  const woken = (await pausedWith(t, worker, inTenSeconds())).execution_id;
  await t.time.advance(20_000);
  const late = t.engine.executions.resume({ execution_id: woken, input: null, by: null });
  await expect(late).rejects.toMatchObject({ code: "not_paused" });
  expect(await outcomes(woken)).toEqual([undefinedValue]);
});

test("EXE-51 onComplete: a pause ends when the other execution has ended", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const other = await worker.next("assign");
  const { execution_id } = await pausedWith(t, worker, { on_complete: other.execution_id });
  expect(toRecord(await t.row(execution_id), NOBODY).waiting).toMatchObject([
    { execution_id: other.execution_id },
  ]);
  await worker.completed(other, "done");
  const again = await worker.next("assign");
  expect(again).toMatchObject({ execution_id, reason: "resume" });
  expect(again.history.events.at(-2)).toMatchObject({ meta: { cause: "completion" } });
  expect(again.history.events.at(-3)).toMatchObject({ value: undefinedValue });
});

test("EXE-51 onComplete of one that has ended already wakes at once, of an unknown one fails the call", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const other = await worker.next("assign");
  await worker.completed(other, "done");
  const first = await pausedWith(t, worker, { on_complete: other.execution_id });
  const again = await worker.next("assign");
  expect(again).toMatchObject({ execution_id: first.execution_id, reason: "resume" });
  await worker.completed(again, null);

  const second = await pausedWith(t, worker, { on_complete: "nobody" });
  const failed = await worker.next("assign");
  expect(failed.execution_id).toBe(second.execution_id);
  expect(failed.history.events.find(({ type }) => type === "TASK_FAILED")).toMatchObject({
    value: { type: "NotFoundError", details: { resource: "execution", execution_id: "nobody" } },
  });
});

test("EXE-19 onComplete of a running execution: its owner hears the outcome by a frame", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const other = await worker.next("assign");
  await worker.completed(other, "done");
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  const value = { name: "answer", on_complete: other.execution_id };
  const answer = await worker.started(assigned, [
    worker.pauseEvent("TASK_STARTED", value),
    worker.pauseEvent("TASK_PAUSED", value),
  ]);
  expect(answer).toMatchObject({ seq: 5, state: "RUNNING" });
  const pushed = await worker.next("events");
  expect(pushed).toMatchObject({ execution_id, base_seq: 5 });
  expect(pushed.events.map(({ type }) => type)).toEqual(["TASK_RESUMED", "TASK_COMPLETED"]);
});

test("EXE-17 rows 5 and 6: retry delays park without a slot and end at their instant", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 1 });
  const { execution_id } = await t.run();
  const until = new Date(t.time.now + 5000).toISOString();
  const retry = { kind: "retry", task_call_id: "charge~1", name: "charge", until } as const;
  const first = await worker.next("assign");
  await worker.parked(first, [worker.callEvent("TASK_STARTED", "charge~1")], [retry]);
  expect(toRecord(await t.row(execution_id), NOBODY)).toMatchObject({
    state: "RUNNING",
    worker: null,
    waiting: [retry],
  });
  await t.run("somebody else");
  await worker.completed(await worker.next("assign"), null);
  await t.time.advance(5000);
  const again = await worker.next("assign");
  expect(again).toMatchObject({ execution_id, reason: "resume" });
  // The attempt is the worker's to begin: nothing but the way back is written.
  expect(again.history.events.slice(-2)).toMatchObject([
    { type: "WORKFLOW_RESUMING", meta: { cause: "timer", task_call_id: "charge~1" } },
    { type: "WORKFLOW_CLAIMED" },
  ]);
});

test("EXE-58 a transient execution whose worker is lost fails if it had begun, else goes on", async () => {
  await using t = await TestEngine.start();
  const quick = `import { workflow } from "@engine/sdk";
export const quick = workflow({ name: "quick", durability: "transient" }, async (input) => input);
`;
  await t.engine.catalog.register({ source: quick }, { by: null });
  const worker = await t.worker("a");
  const start = () => t.engine.executions.start({ ...hello(), workflow: "quick" });
  const [begun, waiting] = [(await start()).row, (await start()).row];
  const assigned = await worker.next("assign");
  expect(assigned).toMatchObject({ transient: true, seed: expect.any(String) });
  await worker.started(assigned);
  worker.connection?.close();
  await t.time.advance(1000);
  expect(await t.row(begun.execution_id)).toMatchObject({
    state: "FAILED",
    failure: { type: "WorkerLostError", code: "worker_lost" },
  });
  expect(await t.row(waiting.execution_id)).toMatchObject({ state: "CREATED" });
  const other = await t.worker("b");
  expect(await other.next("assign")).toMatchObject({ execution_id: waiting.execution_id });
});
