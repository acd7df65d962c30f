import { type ExecutionRow, formatInstant } from "@engine/contract";
import { interposed } from "@engine/store";
import { expect, test } from "vitest";
import { Commits } from "../commits.ts";
import { settled } from "../testing/manual-time.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { Timers } from "./timers.ts";

/** An execution parked on a sleep; no worker is connected afterwards, so that it stays queued. */
async function sleeping(t: TestEngine, ms: number): Promise<string> {
  const [id] = await sleepers(t, [ms]);
  return id as string;
}

async function sleepers(t: TestEngine, times: readonly number[]): Promise<string[]> {
  const worker = await t.worker("sleeper", { slots: 0 });
  const ids: string[] = [];
  for (const ms of times) {
    await t.run();
    const assigned = await worker.next("assign");
    ids.push(assigned.execution_id);
    const until = formatInstant(t.time.now + ms);
    await worker.parked(assigned, [worker.callEvent("TASK_STARTED", "sleep~1", { until })]);
  }
  await t.engine.workers.disconnect(worker.ref);
  return ids;
}

async function states(t: TestEngine, ids: readonly string[]): Promise<string[]> {
  return Promise.all(ids.map(async (id) => (await t.row(id)).state));
}

/** Rows that sleep until then, written straight into the store. */
async function stored(t: TestEngine, count: number, wake_at: number): Promise<void> {
  const { module_hash } = await t.engine.catalog.resolve("default", "hello");
  const waits: ExecutionRow["waits"] = [
    {
      kind: "sleep",
      task_call_id: "sleep~1",
      name: "sleep",
      output: null,
      since: 0,
      until: wake_at,
    },
  ];
  await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const execution_id = `${wake_at}-${String(i).padStart(6, "0")}`;
      await t.store.executions.create({
        execution_id,
        namespace: "default",
        workflow: "hello",
        version: 1,
        module_hash,
        input: null,
        trigger: { kind: "api" },
        by: null,
        seed: "seed",
        now: t.time.now,
      });
      await t.store.executions.change(execution_id, () => ({
        events: [],
        patch: { state: "RUNNING", waits, wake_at },
      }));
    }),
  );
}

/** Timers alone over the store, in place of the engine's; they tell when they woke what. */
async function timersOf(
  t: TestEngine,
  { most, clock = t.time.clock }: { most?: number; clock?: () => number } = {},
) {
  await t.engine.close();
  const listDue = { calls: 0 };
  const woken: [id: string, at: number][] = [];
  const commits = new Commits({ store: t.store, log: silent });
  commits.listen(({ row }) => void woken.push([row.execution_id, t.time.now]));
  const store = interposed(t.store, ({ name }, call) => {
    if (name !== "queue.listDue") return undefined;
    return (...asked) => {
      listDue.calls++;
      return call?.(...asked);
    };
  });
  const { config, time } = t;
  const { setTimer } = time;
  const ports = { store, clock, setTimer, config, log: silent };
  const hasWorker = () => false;
  const timers = new Timers({
    ports,
    commits,
    hasWorker,
    waitsFor: () => NOBODY,
    ...(most && { most }),
  });
  commits.listen((changed) => timers.onCommit(changed));
  return { timers, commits, woken, listDue };
}

const NOBODY = { code: "no_worker", message: "no worker is connected" };

test("EXE-50 a sleep ends at its instant, not a millisecond before, and only once", async () => {
  await using t = await TestEngine.start();
  const id = await sleeping(t, 5000);
  expect(await t.row(id)).toMatchObject({ state: "RUNNING", worker: null });
  await t.time.advance(4999);
  expect(await t.row(id)).toMatchObject({ state: "RUNNING" });
  await t.time.advance(1);
  expect(await t.row(id)).toMatchObject({ state: "RESUMING", waits: [], wake_at: null });
  await t.time.advance(120_000);
  expect((await t.types(id)).slice(2)).toEqual([
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_RESUMING",
  ]);
});

test("EXE-50 many timers end each at its own instant, in their order", async () => {
  await using t = await TestEngine.start();
  const times = [700, 300, 45_000, 300, 90_000, 1];
  const ids = await sleepers(t, times);
  const at = t.time.now;
  const woken: number[] = [];
  for (const ms of [0, 1, 300, 700, 45_000, 90_000]) {
    await t.time.advance(at + ms - t.time.now);
    woken.push((await states(t, ids)).filter((state) => state === "RESUMING").length);
  }
  expect(woken).toEqual([0, 1, 3, 4, 5, 6]);
});

test("I10 the clock is set forward: what is due by then ends within a second", async () => {
  await using t = await TestEngine.start();
  const ids = await sleepers(t, [20_000, 2 * 3_600_000, 2 * 86_400_000]);
  t.time.now += 3 * 3_600_000;
  await t.time.advance(1000);
  expect(await states(t, ids)).toEqual(["RESUMING", "RESUMING", "RUNNING"]);
});

test("I10 a clock that runs ahead of the timers, as after a sleep of the machine, is noticed within a second", async () => {
  await using t = await TestEngine.start();
  await stored(t, 1, t.time.now + 30_000);
  await stored(t, 1, t.time.now + 3_600_000);
  let ahead = 0;
  const { timers, woken } = await timersOf(t, { clock: () => t.time.now + ahead });
  await timers.start();
  await t.time.advance(500);
  for (const [i, ms] of [30_000, 3_600_000].entries()) {
    ahead = ms;
    await t.time.advance(1000);
    expect(woken).toHaveLength(i + 1);
  }
  timers.close();
});

test("I10 the clock is set back: nothing ends before the clock says so", async () => {
  await using t = await TestEngine.start();
  const id = await sleeping(t, 3000);
  t.time.set(-10_000);
  await t.time.advance(12_999);
  expect(await t.row(id)).toMatchObject({ state: "RUNNING" });
  await t.time.advance(1);
  expect(await t.row(id)).toMatchObject({ state: "RESUMING" });
});

test("EXE-50 a timer whose wait was answered before does nothing", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const until = formatInstant(t.time.now + 5000);
  const value = { name: "answer", until };
  await worker.checkpoint(await worker.next("assign"), 2, "PAUSED", [
    worker.event({ execution_id, workflow: "hello" }, "WORKFLOW_STARTED", null),
    worker.pauseEvent("TASK_STARTED", value),
    worker.pauseEvent("TASK_PAUSED", value),
    worker.event({ execution_id, workflow: "hello" }, "WORKFLOW_PAUSED", value),
  ]);
  await t.engine.workers.disconnect(worker.ref);
  await t.engine.executions.resume({ execution_id, input: "yes", by: null });
  const types = await t.types(execution_id);
  await t.time.advance(10_000);
  expect(await t.types(execution_id)).toEqual(types);
});

test("EXE-50 what fell due while no server ran ends when one starts", async () => {
  await using t = await TestEngine.start();
  const ids = await sleepers(t, [5000, 3_600_000]);
  await t.engine.close();
  t.time.now += 60_000;
  await t.restart();
  await settled();
  expect(await states(t, ids)).toEqual(["RESUMING", "RUNNING"]);
  await t.time.advance(3_540_000 - 1);
  expect(await states(t, ids)).toEqual(["RESUMING", "RUNNING"]);
  await t.time.advance(1);
  expect(await states(t, ids)).toEqual(["RESUMING", "RESUMING"]);
});

test("EXE-50 a wake that the database refused is tried again", async () => {
  await using t = await TestEngine.start();
  const id = await sleeping(t, 5000);
  t.failing.add("executions.change");
  await t.time.advance(5500);
  expect(await t.row(id)).toMatchObject({ state: "RUNNING" });
  t.failing.clear();
  await t.time.advance(1000);
  expect(await t.row(id)).toMatchObject({ state: "RESUMING" });
});

test("EXE-50 the safety tick finds what is due and nobody told of", async () => {
  await using t = await TestEngine.start();
  await t.time.advance(100);
  // Behind the engine's back, below what it has read already.
  await stored(t, 1, t.time.now + 1000);
  await t.time.advance(17_000);
  expect((await t.engine.executions.list(everything)).items[0]).toMatchObject({
    state: "RESUMING",
  });
});

const everything = { order: "created_asc", limit: 1, offset: 0 } as const;

test("EXE-50 a local run's waits are its own process's to end", async () => {
  await using t = await TestEngine.start();
  const execution_id = "01900000-0000-7000-8000-00000000000a";
  const { module_hash } = await t.engine.catalog.resolve("default", "hello");
  await t.store.executions.create({
    execution_id,
    namespace: "default",
    workflow: "hello",
    version: null,
    module_hash,
    input: null,
    trigger: { kind: "local" },
    by: null,
    seed: "seed",
    now: t.time.now,
  });
  const until = t.time.now + 1000;
  const wait = { kind: "sleep", task_call_id: "sleep~1", name: "sleep", output: null } as const;
  await t.store.executions.change(execution_id, () => ({
    events: [],
    patch: { state: "RUNNING", waits: [{ ...wait, since: 0, until }], wake_at: until },
  }));
  await t.time.advance(60_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "RUNNING", head: 1 });
});

test("EXE-50 ten thousand due at one instant all end, sharing commits, with room for others", async () => {
  await using t = await TestEngine.start();
  const due = t.time.now + 1000;
  await stored(t, 10_000, due);
  const { timers, commits, woken } = await timersOf(t);
  await timers.start();
  await t.time.advance(999);
  expect(woken).toEqual([]);
  const advancing = t.time.advance(1);
  // Something else is committed while they are being woken.
  await commits.change(`${due}-009999`, () => ({ events: [], patch: { updated_at: due } }));
  expect(woken.length).toBeLessThan(5_000);
  await advancing;
  while (woken.length < 10_001) await settled();
  expect(new Set(woken.map(([id]) => id)).size).toBe(10_000);
  expect(timers.size).toBe(0);
  timers.close();
}, 30_000);

test("EXE-50 memory holds what is due soon, and the rest is read when its time comes near", async () => {
  await using t = await TestEngine.start();
  const start = t.time.now;
  for (const minute of [1, 2, 3]) await stored(t, 150, start + minute * 60_000);
  const { timers, commits, woken, listDue } = await timersOf(t, { most: 200 });
  await timers.start();
  let most = timers.size;
  for (let second = 0; second < 185; second++) {
    await t.time.advance(1000);
    most = Math.max(most, timers.size);
    // Later ones are heard of, too; they wait in the store.
    if (second === 100) {
      for (let i = 0; i < 150; i++) {
        const id = `${start + 180_000}-${String(i).padStart(6, "0")}`;
        await commits.change(id, () => ({ events: [], patch: { updated_at: t.time.now } }));
      }
    }
  }
  expect(most).toBeLessThanOrEqual(200);
  const wakes = woken.filter(([, at]) => at !== start + 101_000);
  expect(wakes).toHaveLength(450);
  expect(new Set(wakes.map(([id]) => id)).size).toBe(450);
  expect(wakes.filter(([id, at]) => at !== Number(id.split("-")[0]))).toEqual([]);
  expect(listDue.calls).toBeLessThan(20);
  timers.close();
});

test("EXE-50 more that fall due soon than memory holds end at their times all the same", async () => {
  await using t = await TestEngine.start();
  const { timers, commits, woken } = await timersOf(t, { most: 20 });
  await timers.start();
  const start = t.time.now;
  const ids: string[] = [];
  for (let i = 50; i > 0; i--) {
    const at = start + i * 100;
    await stored(t, 1, at);
    const id = `${at}-000000`;
    ids.push(id);
    await commits.change(id, () => ({ events: [], patch: { updated_at: start } }));
    expect(timers.size).toBeLessThanOrEqual(20);
  }
  woken.length = 0;
  await t.time.advance(5000);
  expect(woken.map(([id]) => id)).toEqual(ids.toReversed());
  expect(woken.filter(([id, at]) => at !== Number(id.split("-")[0]))).toEqual([]);
  timers.close();
});
