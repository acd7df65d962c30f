import { expect, test } from "vitest";
import { DoubtfulStore } from "../testing/doubtful-store.ts";
import { settled } from "../testing/manual-time.ts";
import { registration, type ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

async function polling(t: TestEngine, slots = 64): Promise<ScriptedWorker> {
  const worker = t.strangeWorker("w");
  await worker.register({ slots });
  const [welcome] = await worker.poll();
  expect(welcome).toMatchObject({ event: "welcome" });
  return worker;
}

test("WRK-10 registration says how a worker is to get its work", async () => {
  await using t = await TestEngine.start({ dispatch: { mode: "poll" } });
  const registered = await t.engine.workers.register(registration("w"));
  expect(registered.dispatch).toBe("poll");
});

test("WRK-10 a poll is answered as soon as there is work, with all of it", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  const poll = worker.poll();
  await settled();
  const { execution_id } = await t.run("x");
  await poll;
  expect(await worker.next("assign")).toMatchObject({ execution_id, input: "x" });
  const assigned = worker.frames.find(({ event }) => event === "assign")?.data as never;
  expect(await worker.completed(assigned, "y")).toMatchObject({ state: "COMPLETED" });
});

test("WRK-10 an elapsed wait is answered with no frames", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  const poll = worker.poll([], { wait_seconds: 30 });
  await settled();
  await t.time.advance(30_000);
  expect(await poll).toEqual([]);
});

test("WRK-10 between two polls nothing is assigned, and nothing is lost before the silence timeout", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  const { execution_id } = await t.run();
  await t.time.advance(20_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED" });
  await worker.poll();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await t.time.advance(29_000);
  expect(await t.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
  await t.time.advance(2_000);
  expect(await t.row(execution_id)).toMatchObject({ worker: null });
});

test("WRK-9 WRK-10 an answer that never arrived leaves its assignment to the next one", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  const { execution_id } = await t.run();
  await worker.poll();
  // The next poll does not list it: the answer was lost on the way.
  const again = worker.poll();
  await again;
  const assigns = worker.frames.filter(({ event }) => event === "assign");
  expect(assigns.map(({ data }) => (data as { generation: number }).generation)).toEqual([1, 2]);
  expect((await t.row(execution_id)).losses).toMatchObject([{ reason: "forgotten" }]);
});

test("WRK-10 LIV-5 what a worker that polls does not have any more at its next poll was lost: that delays it, and ends it", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  const { execution_id } = await t.run();
  const delays: number[] = [];
  for (let polls = 0; polls < 40; polls++) {
    const poll = worker.poll([], { wait_seconds: 1 });
    await settled();
    const { not_before } = await t.row(execution_id);
    if (not_before !== null) delays.push(not_before - t.time.now);
    await t.time.advance(1_000);
    await poll;
  }
  expect(delays).toEqual([1_000, 2_000, 1_000, 4_000, 3_000, 2_000, 1_000]);
  expect(await t.row(execution_id)).toMatchObject({
    state: "FAILED",
    generation: 5,
    failure: { type: "WorkerCrashLoopError" },
  });
});

test("I5 WRK-9 what is claimed for a worker while it comes back is given to it once", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const answered = Promise.withResolvers<void>();
  const create = t.store.executions.create.bind(t.store.executions);
  t.store.executions.create = async (...args) => {
    const created = await create(...args);
    await answered.promise;
    return created;
  };
  const run = t.run();
  await settled();
  const back = worker.connect();
  await settled();
  answered.resolve();
  const { execution_id } = await run;
  await back;
  await settled();
  const assigns = worker.frames.filter(({ event }) => event === "assign");
  expect(assigns.map(({ data }) => (data as { generation: number }).generation)).toEqual([1]);
  expect(await t.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
});

test("WRK-10 a cancel between two polls comes with the next one", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  const { execution_id } = await t.run();
  await worker.poll();
  await worker.started(await worker.next("assign"));
  await t.engine.executions.cancel({ execution_id, by: null });
  await worker.poll([{ execution_id, generation: 1, seq: 3 }]);
  expect(await worker.next("events")).toMatchObject({ events: [{ type: "WORKFLOW_CANCELLING" }] });
});

test("WRK-10 WRK-11 a worker that polls hears that it is paused, and that it is resumed", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  await t.engine.fleet.pause("w");
  await worker.poll();
  expect(await worker.next("control")).toEqual({ command: "pause" });
  await t.engine.fleet.resume("w");
  await worker.poll([], { status: "paused" });
  expect(await worker.next("control")).toEqual({ command: "resume" });
});

test("WRK-10 LIV-2 a worker that asks for the longest wait is not lost while it waits", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  const { execution_id } = await t.run();
  await worker.poll();
  await worker.started(await worker.next("assign"));
  let isPolling = true;
  void (async () => {
    const running = [{ execution_id, generation: 1, seq: 3 }];
    while (isPolling) await worker.poll(running, { wait_seconds: 30 });
  })();
  await t.time.advance(300_000);
  isPolling = false;
  expect(await t.row(execution_id)).toMatchObject({ worker: "w", generation: 1, losses: [] });
});

test("WRK-9 WRK-10 a poll after an outage keeps what it runs, with what it missed, and drops what is gone", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  const { execution_id } = await t.run();
  await worker.poll();
  await worker.started(await worker.next("assign"));
  await t.engine.executions.signal({ execution_id, name: "paid", payload: 1, by: null });
  await worker.poll([
    { execution_id, generation: 1, seq: 3 },
    { execution_id: "nobody-knows", generation: 1, seq: 1 },
  ]);
  const welcome = worker.frames.findLast(({ event }) => event === "welcome");
  expect(welcome?.data).toMatchObject({
    keep: [{ execution_id, generation: 1 }],
    drop: [{ execution_id: "nobody-knows", generation: 1 }],
  });
  expect(await worker.next("events")).toMatchObject({
    base_seq: 3,
    events: [{ seq: 4, type: "WORKFLOW_SIGNALED" }],
  });
});

test("WRK-9 WRK-10 a poll adopts what was handed over and nobody has taken", async () => {
  await using t = await TestEngine.start();
  const worker = await polling(t);
  const { execution_id } = await t.run();
  await worker.poll();
  await worker.started(await worker.next("assign"));
  await t.time.advance(31_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", worker: null });
  await worker.poll([{ execution_id, generation: 1, seq: 3 }]);
  const welcome = worker.frames.findLast(({ event }) => event === "welcome");
  expect(welcome?.data).toMatchObject({ keep: [{ execution_id, generation: 2 }], drop: [] });
  expect(await t.row(execution_id)).toMatchObject({ worker: "w", generation: 2 });
  expect(worker.heard.filter((event) => event === "assign")).toHaveLength(1);
});

test("WRK-9 WRK-11 a worker that was paused meanwhile adopts nothing of what it had lost", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.started(await worker.next("assign"));
  worker.connection?.close();
  await t.time.advance(1_000);
  await t.engine.fleet.pause("w");
  const { keep, drop } = await worker.connect([{ execution_id, generation: 1, seq: 3 }]);
  expect(keep).toEqual([]);
  expect(drop).toMatchObject([{ execution_id, generation: 1 }]);
});

test("I16 LIV-2 a session that is lost while its worker polls is given nothing before it comes back", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const worker = await polling(t, 1);
  const first = await t.run("first");
  await worker.poll();
  await worker.started(await worker.next("assign"));
  const second = await t.run("second");
  const lost = doubtful.holdAnswers("sessions.lose");
  const owned = doubtful.holdAnswers("queue.listOwned");
  await t.time.advance(31_000);
  const poll = worker.poll([{ ...first, generation: 1, seq: 3 }]);
  await settled();
  lost();
  await settled();
  owned();
  await poll;
  await settled();
  for (const { execution_id } of [first, second]) {
    expect(await t.row(execution_id)).toMatchObject({ worker: null });
  }
  await worker.poll([]);
  expect(await worker.next("assign")).toMatchObject({ input: "first" });
});
