import type { Assignment, ReleaseReason } from "@engine/contract";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

const OTHER_PROCESS = "01900000-0000-7000-8000-00000000ffff";

async function assignments(worker: ScriptedWorker, count: number): Promise<Assignment[]> {
  const got: Assignment[] = [];
  while (got.length < count) got.push(await worker.next("assign"));
  return got;
}

async function giveBack(
  t: TestEngine,
  worker: ScriptedWorker,
  held: readonly Assignment[],
  reason: ReleaseReason,
): Promise<void> {
  const items = held.map(({ execution_id, generation }) => ({ execution_id, generation, reason }));
  await t.engine.workers.release(worker.ref, items);
  await settled();
}

function assigned(worker: ScriptedWorker): number {
  return worker.heard.filter((event) => event === "assign").length;
}

async function startMany(t: TestEngine, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await t.run()).execution_id);
  return ids;
}

/** Its stream closes and nobody comes back. */
async function die(t: TestEngine, worker: ScriptedWorker): Promise<void> {
  worker.connection?.close();
  await t.time.advance(1_000);
  await settled();
}

test("LIV-5 suspects run apart, eight at a time, while others pass by them; the first outcome clears one", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await startMany(t, 11);
  const first = await assignments(worker, 11);
  await giveBack(t, worker, first, "suspect");
  const again = await assignments(worker, 8);
  expect(again.filter(({ apart }) => apart)).toHaveLength(8);
  await t.run("fresh");
  expect(await worker.next("assign")).toMatchObject({ input: "fresh", apart: false });
  expect(assigned(worker)).toBe(20);

  const [cleared] = again as [Assignment];
  await worker.started(cleared, [
    worker.callEvent("TASK_STARTED", "t~1"),
    worker.callEvent("TASK_COMPLETED", "t~1"),
  ]);
  expect(await worker.next("assign")).toMatchObject({ apart: true, generation: 2 });
  expect(await t.row(cleared.execution_id)).toMatchObject({ worker: "w", losses: [] });
  expect(assigned(worker)).toBe(21);
});

test("LIV-5 a suspect that lives on keeps its place for 10 seconds", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await startMany(t, 9);
  await giveBack(t, worker, await assignments(worker, 9), "suspect");
  const running = await assignments(worker, 8);
  const listed = running
    .map((it) => ({ ...it, seq: it.head }))
    .map(({ execution_id, generation, seq }) => ({ execution_id, generation, seq }));
  await t.time.advance(9_000);
  await worker.beat(listed);
  expect(assigned(worker)).toBe(17);
  await t.time.advance(2_000);
  await worker.beat(listed);
  expect(await worker.next("assign")).toMatchObject({ apart: true });
});

test("LIV-5 what a lost worker ran goes on as before; only losing it five times makes suspects, and none is failed", async () => {
  await using t = await TestEngine.start({ workers: { max_crashes: 1 } });
  const ids = await startMany(t, 3);
  for (const [name, apart] of [
    ["a", false],
    ["b", false],
    ["c", false],
    ["d", false],
    ["e", false],
    ["f", true],
  ] as const) {
    const worker = await t.worker(name);
    const got = await assignments(worker, 3);
    expect(got.map((one) => one.apart)).toEqual([apart, apart, apart]);
    await die(t, worker);
    await t.time.advance(16_000);
  }
  for (const id of ids) {
    const { state, losses } = await t.row(id);
    expect(state).toBe("CREATED");
    expect(losses.map(({ uncounted }) => uncounted)).toEqual(Array(6).fill(true));
  }
});

test("LIV-5 what being apart has not kept from losing workers has one without other suspects, and its losses count", async () => {
  await using t = await TestEngine.start({ workers: { max_crashes: 2 } });
  const ids = await startMany(t, 3);
  for (const name of ["a", "b", "c", "d", "e", "f", "g"]) {
    const worker = await t.worker(name);
    await assignments(worker, 3);
    await die(t, worker);
    await t.time.advance(32_000);
  }
  const worker = await t.worker("h");
  const [alone] = await assignments(worker, 1);
  expect(alone).toMatchObject({ apart: true });
  await t.run("fresh");
  expect(await worker.next("assign")).toMatchObject({ input: "fresh" });
  expect(assigned(worker)).toBe(2);
  await die(t, worker);
  const counts = async (id: string) =>
    (await t.row(id)).losses.filter(({ uncounted }) => !uncounted).length;
  const guilty = alone?.execution_id ?? "";
  expect(await counts(guilty)).toBe(1);
  for (const id of ids.filter((one) => one !== guilty)) expect(await counts(id)).toBe(0);
});

test("LIV-5 the only execution of a worker that is lost has that counted", async () => {
  await using t = await TestEngine.start({ workers: { max_crashes: 1 } });
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.next("assign");
  await die(t, worker);
  expect(await t.row(execution_id)).toMatchObject({
    state: "FAILED",
    failure: { type: "WorkerCrashLoopError" },
  });
});

test("WRK-4 LIV-5 a process that takes the name of a dead one has not taken its work over: that was lost", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.started(await worker.next("assign"));
  worker.connection?.close();
  await settled();
  const again = t.strangeWorker("w");
  await again.register({ instance_id: OTHER_PROCESS });
  await again.connect();
  expect(await again.next("assign")).toMatchObject({ execution_id, generation: 2 });
  expect((await t.row(execution_id)).losses).toMatchObject([{ reason: "session_lost" }]);
});

test("WRK-4 LIV-5 what is taken from a process that lives is not lost", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.started(await worker.next("assign"));
  const other = t.strangeWorker("w");
  await other.register({ instance_id: OTHER_PROCESS });
  await other.connect();
  expect(await other.next("assign")).toMatchObject({ execution_id, generation: 2 });
  expect((await t.row(execution_id)).losses).toEqual([]);
});
