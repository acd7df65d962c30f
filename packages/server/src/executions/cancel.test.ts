import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";
import { NOBODY } from "./principal-refs.ts";
import { toRecord } from "./record.ts";

async function localRow(t: TestEngine, execution_id: string, session?: string): Promise<void> {
  await t.store.executions.create(
    {
      execution_id,
      namespace: "default",
      workflow: "hello",
      version: null,
      module_hash: null,
      input: null,
      trigger: { kind: "local" },
      by: null,
      seed: "seed",
      now: t.time.now,
    },
    session === undefined ? undefined : { worker: "local", session, now: t.time.now },
  );
}

const cancelOf = (t: TestEngine, execution_id: string) =>
  t.engine.executions.cancel({ execution_id, by: "eva", reason: "too late" });

/** Running, with a task of the user's open. */
async function running(t: TestEngine, worker: ScriptedWorker) {
  await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned, [worker.callEvent("TASK_STARTED", "charge~1")]);
  return assigned;
}

test("EXE-17 row 12: one that never started is over at once, without a worker", async () => {
  await using t = await TestEngine.start();
  const { execution_id } = await t.run();
  const { row } = await cancelOf(t, execution_id);
  expect(row).toMatchObject({ state: "CANCELLED", cancelling: { cause: "request" } });
  const log = await t.store.log.read(execution_id);
  expect(log.slice(1).map(({ event }) => event)).toMatchObject([
    { type: "WORKFLOW_CANCELLING", meta: { by: "eva", cause: "request", reason: "too late" } },
    { type: "WORKFLOW_CANCELLED" },
  ]);
  expect(toRecord(row, NOBODY).error).toEqual({
    code: "workflow_cancelled",
    message: "the execution was cancelled: too late",
    details: { cause: "request", reason: "too late" },
  });
  // It waits no more.
  const worker = await t.worker();
  await t.time.advance(20_000);
  expect(worker.heard).not.toContain("assign");
});

test("EXE-17 rows 13 and 14: a running one is told, unwinds and is cancelled", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  const { execution_id } = assigned;
  expect((await cancelOf(t, execution_id)).row).toMatchObject({ state: "CANCELLING", worker: "w" });
  const pushed = await worker.next("events");
  expect(pushed).toMatchObject({ base_seq: 4, events: [{ seq: 5, type: "WORKFLOW_CANCELLING" }] });
  const wait = t.engine.executions.wait(execution_id);
  await worker.checkpoint(assigned, 5, "CANCELLED", [
    worker.callEvent("TASK_CANCELLED", "charge~1"),
    worker.event(assigned, "WORKFLOW_CANCELLED", null),
  ]);
  expect(await wait).toMatchObject({ state: "CANCELLED", worker: null, waits: [] });
});

test("EXE-17 row 15: a body that had ended before it saw the cancel keeps its end", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  await cancelOf(t, assigned.execution_id);
  const end = worker.event(assigned, "WORKFLOW_COMPLETED", "done");
  // CKP-3: first it hears of the cancel.
  expect(await worker.checkpoint(assigned, 4, "COMPLETED", [end])).toMatchObject({
    error: { code: "seq_conflict", details: { acknowledged: 4 } },
  });
  await worker.checkpoint(assigned, 5, "COMPLETED", [end]);
  expect(await t.row(assigned.execution_id)).toMatchObject({ state: "COMPLETED", output: "done" });
});

test("EXE-17 row 13: a parked one goes to a worker to unwind", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const assigned = await worker.next("assign");
  const until = "2030-01-01T00:00:00.000Z";
  await worker.parked(assigned, [worker.callEvent("TASK_STARTED", "sleep~1", { until })]);
  const { execution_id } = assigned;
  expect((await cancelOf(t, execution_id)).row).toMatchObject({ state: "CANCELLING" });
  const again = await worker.next("assign");
  expect(again).toMatchObject({ execution_id, reason: "cancel", generation: 2 });
  await worker.checkpoint(again, again.head, "CANCELLED", [
    worker.begin(again),
    worker.callEvent("TASK_CANCELLED", "sleep~1"),
    worker.event(again, "WORKFLOW_CANCELLED", null),
  ]);
  expect(await t.row(execution_id)).toMatchObject({ state: "CANCELLED" });
});

test("EXE-17 row 14: without a worker, one with only built-in calls open is over at once", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const assigned = await worker.next("assign");
  await worker.paused(assigned);
  await t.engine.workers.disconnect(worker.ref);
  const { row } = await cancelOf(t, assigned.execution_id);
  expect(row).toMatchObject({ state: "CANCELLED", waits: [], wake_at: null });
  expect((await t.types(assigned.execution_id)).slice(-3)).toEqual([
    "WORKFLOW_CANCELLING",
    "TASK_CANCELLED",
    "WORKFLOW_CANCELLED",
  ]);
});

test("EXE-17 row 14: one that no connected worker could have is over at once, its children too", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("needed");
  await t.engine.executions.start({ ...hello(), required_worker: "needed" });
  const assigned = await worker.next("assign");
  const call = { workflow: "default/hello", input: null, wait: true, detach: false };
  await worker.parked(assigned, [worker.callEvent("TASK_STARTED", "call~1", call)]);
  const child = await worker.next("assign");
  await worker.paused(child);
  await t.engine.workers.disconnect(worker.ref);
  // Connected, but not the one that it must have; the child asks for none.
  const other = await t.worker("other");
  const { row } = await cancelOf(t, assigned.execution_id);
  expect(row).toMatchObject({ state: "CANCELLED", waits: [], wake_at: null });
  expect(await other.next("assign")).toMatchObject({ execution_id: child.execution_id });
});

test("EXE-17 row 14: a full or paused worker that could have it is given time to unwind it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 1 });
  await t.engine.executions.start({ ...hello(), required_worker: "w" });
  const assigned = await worker.next("assign");
  await worker.paused(assigned);
  await t.engine.fleet.pause("w");
  const { row } = await cancelOf(t, assigned.execution_id);
  expect(row).toMatchObject({ state: "CANCELLING" });
});

test("EXE-17 row 14: nobody takes it within cancel_timeout: it ends with a warning", async () => {
  await using t = await TestEngine.start({ executions: { cancel_timeout: 60 } });
  const worker = await t.worker();
  await t.run();
  const assigned = await worker.next("assign");
  const value = { name: "answer" };
  await worker.checkpoint(assigned, assigned.head, "PAUSED", [
    worker.begin(assigned),
    worker.callEvent("TASK_STARTED", "charge~1"),
    worker.callEvent("TASK_STARTED", "charge~1/pause~1", value),
    worker.callEvent("TASK_PAUSED", "charge~1/pause~1", value),
    worker.event(assigned, "WORKFLOW_PAUSED", value),
  ]);
  await t.engine.workers.disconnect(worker.ref);
  const { execution_id } = assigned;
  await cancelOf(t, execution_id);
  await t.time.advance(59_999);
  expect(await t.row(execution_id)).toMatchObject({ state: "CANCELLING" });
  await t.time.advance(1);
  expect(await t.row(execution_id)).toMatchObject({ state: "CANCELLED" });
  const log = (await t.store.log.read(execution_id)).map(({ event }) => event);
  expect(log.slice(-4)).toMatchObject([
    { type: "WORKFLOW_WARNING", value: { code: "not_unwound" } },
    { type: "TASK_CANCELLED", source_id: "charge~1/pause~1" },
    { type: "TASK_CANCELLED", source_id: "charge~1" },
    { type: "WORKFLOW_CANCELLED" },
  ]);
});

test("EXE-17 row 14: the time to unwind counts anew when the worker that unwound it is lost", async () => {
  await using t = await TestEngine.start({ executions: { cancel_timeout: 60 } });
  const worker = await t.worker();
  const { execution_id } = await running(t, worker);
  await cancelOf(t, execution_id);
  await t.time.advance(20_000);
  worker.connection?.close();
  await t.time.advance(1000);
  expect(await t.row(execution_id)).toMatchObject({ state: "CANCELLING", worker: null });
  await t.time.advance(59_999);
  expect(await t.row(execution_id)).toMatchObject({ state: "CANCELLING" });
  await t.time.advance(1);
  expect(await t.row(execution_id)).toMatchObject({ state: "CANCELLED" });
});

test("EXE-21 a second cancel changes nothing, and one after the end is refused", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  const { execution_id } = assigned;
  await cancelOf(t, execution_id);
  const types = await t.types(execution_id);
  expect((await cancelOf(t, execution_id)).row).toMatchObject({ state: "CANCELLING" });
  expect(await t.types(execution_id)).toEqual(types);
  await worker.checkpoint(assigned, 5, "CANCELLED", [
    worker.event(assigned, "WORKFLOW_CANCELLED", null),
  ]);
  await expect(cancelOf(t, execution_id)).rejects.toMatchObject({
    code: "execution_finished",
    details: { state: "CANCELLED" },
  });
});

test("EXE-43 a cancel that a worker did not hear of is pushed again when its heartbeat shows it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await running(t, worker);
  await cancelOf(t, execution_id);
  await worker.next("events");
  const beat = (seq: number) => worker.beat([{ execution_id, generation: 1, seq }]);
  await beat(4);
  const again = await worker.next("events");
  expect(again).toMatchObject({ base_seq: 4, events: [{ type: "WORKFLOW_CANCELLING" }] });
  const frames = worker.frames.length;
  await beat(5);
  await t.time.advance(0);
  expect(worker.frames).toHaveLength(frames);
});

test("EXE-43 a cancel during an outage reaches the worker with its reconnect", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await running(t, worker);
  worker.connection?.close();
  await cancelOf(t, execution_id);
  await worker.connect([{ execution_id, generation: 1, seq: 4 }]);
  expect(await worker.next("events")).toMatchObject({
    base_seq: 4,
    events: [{ seq: 5, type: "WORKFLOW_CANCELLING" }],
  });
});

test("EXE-43 a worker's own events that are on their way are not pushed back to it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await running(t, worker);
  const frames = worker.frames.length;
  // Its heartbeat left before the answer to its checkpoint arrived.
  await worker.beat([{ execution_id, generation: 1, seq: 2 }]);
  await t.time.advance(0);
  expect(worker.frames).toHaveLength(frames);
});

test("EXE-44 a workflow that takes longer than its timeout is unwound and fails", async () => {
  await using t = await TestEngine.start();
  const slow = `import { workflow } from "@engine/sdk";
export const slow = workflow({ name: "slow", timeout: "10s" }, async (input) => input);
`;
  await t.engine.catalog.register({ source: slow }, { by: null });
  const worker = await t.worker();
  const { row } = await t.engine.executions.start({ ...hello(), workflow: "slow" });
  const { execution_id } = row;
  await t.time.advance(5_000);
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await t.time.advance(9_999);
  expect(await t.row(execution_id)).toMatchObject({ state: "RUNNING" });
  await t.time.advance(1);
  expect(await worker.next("events")).toMatchObject({
    events: [{ type: "WORKFLOW_CANCELLING", meta: { cause: "timeout" } }],
  });
  expect(await t.row(execution_id)).toMatchObject({ state: "CANCELLING", worker: "w" });

  const told = { message: "it took longer", retryable: false, details: null, cause: null };
  const failure = { type: "WorkflowTimeoutError", code: "timeout", ...told };
  await worker.checkpoint(assigned, 4, "FAILED", [
    worker.event(assigned, "WORKFLOW_FAILED", { ...failure, attempts: 1, task_call_id: null }),
  ]);
  expect(toRecord(await t.row(execution_id), NOBODY)).toMatchObject({
    state: "FAILED",
    error: { details: { type: "WorkflowTimeoutError" } },
  });
});

test("EXE-15 a local run that rests is cancelled at once; one that runs is for its process to see", async () => {
  await using t = await TestEngine.start();
  await t.worker();
  const [parked, running] = ["01900000-0000-7000-8000-0000000000aa", "01900000-bb"];
  await localRow(t, parked);
  await t.store.executions.change(parked, () => ({
    events: [],
    patch: { state: "PAUSED", started_at: t.time.now },
  }));
  expect((await cancelOf(t, parked)).row).toMatchObject({ state: "CANCELLED" });
  await localRow(t, running, "process");
  expect((await cancelOf(t, running)).row).toMatchObject({ state: "CANCELLING" });
});
