import type { Assignment, WorkerFrame } from "@engine/contract";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

/** How often a worker was told of a cancel. */
function cancels({ frames }: ScriptedWorker): number {
  const tells = (frame: WorkerFrame) =>
    frame.event === "events" && frame.data.events.some((e) => e.type === "WORKFLOW_CANCELLING");
  return frames.filter(tells).length;
}

/** Running, its log three events long. */
async function running(t: TestEngine, worker: ScriptedWorker): Promise<Assignment> {
  await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  return assigned;
}

const cancelOf = ({ engine }: TestEngine, { execution_id }: Assignment) =>
  engine.executions.cancel({ execution_id, by: null });

test("DSP-9 EXE-43 a cancel that no heartbeat covers is sent again every 5 seconds", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  await cancelOf(t, assigned);
  expect(cancels(worker)).toBe(1);
  await t.time.advance(4_999);
  expect(cancels(worker)).toBe(1);
  await t.time.advance(1);
  expect(cancels(worker)).toBe(2);
  await t.time.advance(5_000);
  expect(cancels(worker)).toBe(3);
  const again = worker.frames.at(-1);
  expect(again).toMatchObject({ event: "events", data: { generation: 1, base_seq: 3 } });

  await worker.beat([{ execution_id: assigned.execution_id, generation: 1, seq: 4 }]);
  await t.time.advance(20_000);
  expect(cancels(worker)).toBe(3);
});

test("DSP-9 the next checkpoint acknowledges a cancel, too", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  await cancelOf(t, assigned);
  const open = worker.callEvent("TASK_STARTED", "undo~1");
  await worker.checkpoint(assigned, 4, "CANCELLING", [open]);
  await t.time.advance(20_000);
  expect(cancels(worker)).toBe(1);
});

test("DSP-9 a checkpoint or heartbeat from before the cancel acknowledges nothing", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  await cancelOf(t, assigned);
  // An exact repeat: the answer to it was lost.
  await worker.started(assigned);
  await t.time.advance(5_000);
  expect(cancels(worker)).toBe(2);
  await t.time.advance(4_000);
  await worker.beat([{ execution_id: assigned.execution_id, generation: 1, seq: 3 }]);
  await settled();
  expect(cancels(worker)).toBe(3);
});

test.each<[string, (t: TestEngine, worker: ScriptedWorker) => Promise<unknown>]>([
  ["paused", (t) => t.engine.fleet.pause("w")],
  ["draining", (t) => t.engine.fleet.drain("w", undefined)],
  ["unhealthy", (_, worker) => worker.beat([], { healthy: false })],
])("DSP-9 EXE-43 a cancel reaches a worker that is %s, and again", async (_, befall) => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  await befall(t, worker);
  await cancelOf(t, assigned);
  expect(cancels(worker)).toBe(1);
  await t.time.advance(5_000);
  expect(cancels(worker)).toBe(2);
});

test("DSP-9 WRK-9 a worker that was away hears of a cancel as it reconnects, and again", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  const { execution_id } = assigned;
  worker.connection?.close();
  await cancelOf(t, assigned);
  await worker.connect([{ execution_id, generation: 1, seq: 3 }]);
  await settled();
  expect(cancels(worker)).toBe(1);
  await t.time.advance(5_000);
  expect(cancels(worker)).toBe(2);
});

test("DSP-9 WRK-9 a worker that adopts what it had lost hears of a cancel, and again", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  const { execution_id } = assigned;
  // Only a worker can undo this.
  const open = worker.callEvent("TASK_STARTED", "charge~1");
  await worker.checkpoint(assigned, 3, "RUNNING", [open]);
  worker.connection?.close();
  await t.time.advance(1_000);
  await cancelOf(t, assigned);
  expect(await t.row(execution_id)).toMatchObject({ state: "CANCELLING", worker: null });
  const { keep } = await worker.connect([{ execution_id, generation: 1, seq: 4 }]);
  expect(keep).toEqual([{ execution_id, generation: 2 }]);
  await settled();
  expect(cancels(worker)).toBe(1);
  await t.time.advance(5_000);
  expect(cancels(worker)).toBe(2);
  await worker.beat([{ execution_id, generation: 2, seq: 6 }]);
  await t.time.advance(20_000);
  expect(cancels(worker)).toBe(2);
});

test("DSP-9 a cancel is not sent again to a worker that has lost the execution", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await running(t, worker);
  const { execution_id } = assigned;
  await cancelOf(t, assigned);
  const items = [{ execution_id, generation: 1, reason: "draining" as const }];
  await t.engine.workers.release(worker.ref, items);
  await t.time.advance(20_000);
  expect(cancels(worker)).toBe(1);
});

test("DSP-9 a cancel that came to another server is sent again by the one that has the stream", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const assigned = await running(t.b, worker);
  await cancelOf(t.a, assigned);
  await t.time.advance(20);
  expect(cancels(worker)).toBe(1);
  await t.time.advance(5_000);
  expect(cancels(worker)).toBe(2);
});
