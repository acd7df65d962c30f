import type { ReleaseReason } from "@engine/contract";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

async function lose(
  t: TestEngine,
  worker: ScriptedWorker,
  { execution_id, generation }: { execution_id: string; generation: number },
  reason: ReleaseReason = "runner_lost",
): Promise<void> {
  const items = [{ execution_id, generation, reason }];
  await t.engine.workers.release(worker.ref, items);
  await settled();
}

test("LIV-5 the first loss is made good at once, later ones wait 1, 2, 4 seconds, and the fifth fails the execution", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const delays: number[] = [];
  for (let generation = 1; generation <= 5; generation++) {
    const assigned = await worker.next("assign");
    expect(assigned).toMatchObject({ execution_id, generation });
    await worker.started(assigned);
    await lose(t, worker, assigned);
    const { not_before } = await t.row(execution_id);
    delays.push(not_before === null ? 0 : not_before - t.time.now);
    if (not_before !== null) await t.time.advance(not_before - t.time.now);
  }
  expect(delays).toEqual([0, 1_000, 2_000, 4_000, 0]);
  const { state, failure } = await t.row(execution_id);
  expect(state).toBe("FAILED");
  expect(failure).toMatchObject({ type: "WorkerCrashLoopError", retryable: false });
  const attempts = failure?.details?.["attempts"] as object[] | undefined;
  expect(attempts).toHaveLength(5);
  expect(attempts?.[0]).toMatchObject({ worker: "w", generation: 1, reason: "runner_lost" });
});

test("LIV-5 a recorded outcome makes earlier losses count for nothing", async () => {
  await using t = await TestEngine.start({ workers: { max_crashes: 2 } });
  const worker = await t.worker();
  const { execution_id } = await t.run();
  for (let generation = 1; generation <= 6; generation++) {
    const assigned = await worker.next("assign");
    const id = `t~${generation}`;
    await worker.started(assigned, [
      worker.callEvent("TASK_STARTED", id),
      worker.callEvent("TASK_COMPLETED", id),
    ]);
    await lose(t, worker, assigned);
    expect((await t.row(execution_id)).losses).toMatchObject([{ uncounted: true }]);
  }
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 7, apart: true });
});

test("LIV-5 a neighbour of a stuck execution has lost nothing", async () => {
  await using t = await TestEngine.start({ workers: { max_crashes: 1 } });
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await lose(t, worker, await worker.next("assign"), "neighbour");
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
  await lose(t, worker, { execution_id, generation: 2 }, "stuck");
  expect(await t.row(execution_id)).toMatchObject({ state: "FAILED" });
});

test("LIV-5 after a loss another worker comes first, and the last one is better than none", async () => {
  await using t = await TestEngine.start();
  const a = await t.worker("a");
  const { execution_id } = await t.run();
  const assigned = await a.next("assign");
  const b = await t.worker("b");
  await lose(t, a, assigned);
  expect(await b.next("assign")).toMatchObject({ execution_id, generation: 2 });
  a.connection?.close();
  await t.time.advance(1_000);
  await lose(t, b, { execution_id, generation: 2 });
  await t.time.advance(1_000);
  expect(await b.next("assign")).toMatchObject({ execution_id, generation: 3 });
});

test("LIV-5 an execution that was being cancelled fails too: its rollbacks are not known to have run", async () => {
  await using t = await TestEngine.start({ workers: { max_crashes: 1 } });
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await t.engine.executions.cancel({ execution_id, by: null });
  await lose(t, worker, assigned);
  expect(await t.row(execution_id)).toMatchObject({ state: "FAILED", session: null });
});

test("LIV-1 what a worker was assigned and does not list in two heartbeats goes back, without a loss", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.next("assign");
  await worker.beat();
  await worker.beat();
  expect(await t.row(execution_id)).toMatchObject({ generation: 1 });
  await t.time.advance(10_001);
  await worker.beat();
  await settled();
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
  expect((await t.row(execution_id)).losses).toEqual([]);
});

test("LIV-1 what a worker lists is its own, however long it takes to begin", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.next("assign");
  for (let beat = 0; beat < 5; beat++) {
    await worker.beat([{ execution_id, generation: 1, seq: 2 }]);
    await t.time.advance(10_000);
  }
  expect(await t.row(execution_id)).toMatchObject({ generation: 1, worker: "w" });
});

test("LIV-1 I17 what a worker listed once and then not in two heartbeats goes back: it has it no more", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.started(await worker.next("assign"));
  await worker.beat([{ execution_id, generation: 1, seq: 3 }]);
  await t.time.advance(10_000);
  await worker.beat();
  expect(await t.row(execution_id)).toMatchObject({ generation: 1 });
  await t.time.advance(10_000);
  await worker.beat();
  await t.engine.workers.refresh();
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
  expect(await t.row(execution_id)).toMatchObject({ losses: [{ reason: "runner_lost" }] });
});

test("WRK-9 an execution that had begun and that its worker does not list any more counts as lost", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.started(await worker.next("assign"));
  const second = await t.run();
  worker.connection?.close();
  await worker.connect();
  await settled();
  expect((await t.row(execution_id)).losses).toMatchObject([{ reason: "runner_lost" }]);
  expect((await t.row(second.execution_id)).losses).toEqual([]);
});

test.each<[ReleaseReason, number]>([
  ["draining", 0],
  ["paused", 0],
  ["overloaded", 0],
  ["superseded", 0],
  ["principal_unavailable", 0],
  ["neighbour", 0],
  ["suspect", 0],
  ["unready", 0],
  ["runner_lost", 1],
  ["stuck", 1],
])("LIV-5 what comes back as %s counts as %i losses", async (reason, losses) => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await t.engine.fleet.pause("w");
  await lose(t, worker, assigned, reason);
  const row = await t.row(execution_id);
  expect(row).toMatchObject({ state: "CREATED", worker: null, last_worker: "w" });
  const counted = row.losses.filter(({ uncounted }) => !uncounted);
  expect(counted.map((loss) => loss.reason)).toEqual(losses === 1 ? [reason] : []);
});

test("LIV-4 a hand-over writes no event; the next claim says who has it, the how-manieth, and why", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await t.engine.fleet.pause("w");
  await lose(t, worker, assigned);
  expect(await t.types(execution_id)).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
  ]);
  const other = await t.worker("other");
  const again = await other.next("assign");
  const claimed = again.history.events.at(-1);
  expect(claimed).toMatchObject({
    type: "WORKFLOW_CLAIMED",
    value: { worker: "other", generation: 2, reason: "recover", attempt: 2, score: null },
  });
  expect(await t.row(execution_id)).toMatchObject({ state: "CLAIMED" });
  await other.started(again);
  expect(await t.row(execution_id)).toMatchObject({ state: "RUNNING" });
});
