import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";

test("DSP-5 work that waits starts when a worker joins", async () => {
  await using t = await TestEngine.start();
  const { execution_id, state } = await t.run();
  expect(state).toBe("CREATED");
  const worker = await t.worker();
  expect(await worker.next("assign")).toMatchObject({ execution_id, reason: "start" });
});

test("DSP-4 what waits starts in the order of its creation, one per freed slot", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 1 });
  const runs = [await t.run(1), await t.run(2), await t.run(3)];
  expect(runs.map(({ state }) => state)).toEqual(["CLAIMED", "CREATED", "CREATED"]);
  const inputs = [];
  for (const _ of runs) {
    const assigned = await worker.next("assign");
    inputs.push(assigned.input);
    await worker.completed(assigned, null);
  }
  expect(inputs).toEqual([1, 2, 3]);
});

test("DSP-3 a worker never gets more than its slots, however many starts race", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 3 });
  const rows = await Promise.all(Array.from({ length: 10 }, () => t.run()));
  await settled();
  expect(rows.filter(({ state }) => state === "CLAIMED")).toHaveLength(3);
  expect(worker.heard.filter((event) => event === "assign")).toHaveLength(3);
});

test("DSP-6 starts go to the worker with the lowest load, then by name", async () => {
  await using t = await TestEngine.start();
  await t.worker("b");
  await t.worker("a");
  const rows = [await t.run(), await t.run(), await t.run()];
  expect(rows.map(({ worker }) => worker)).toEqual(["a", "b", "a"]);
});

test("DSP-6 a resume passes over its original worker when that is full", async () => {
  await using t = await TestEngine.start();
  const original = await t.worker("a", { slots: 1 });
  const { execution_id } = await t.run();
  await original.paused(await original.next("assign"));
  await t.run();
  const other = await t.worker("b");
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  expect(await other.next("assign")).toMatchObject({ execution_id, reason: "resume" });
});

test("a resume does not overtake what waited before it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 1 });
  const paused = await t.run("paused");
  await worker.paused(await worker.next("assign"));
  await t.run("running");
  t.time.now += 1;
  const waiting = await t.run("waiting");
  t.time.now += 1;
  const { execution_id } = paused;
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  await worker.completed(await worker.next("assign"), null);
  expect(await worker.next("assign")).toMatchObject({ execution_id: waiting.execution_id });
});

test("LIV-4 what is handed over keeps its place before what was created later", async () => {
  await using t = await TestEngine.start();
  const lost = await t.worker("a", { slots: 1 });
  const early = await t.run("early");
  t.time.now += 1;
  await t.run("late");
  lost.connection?.close();
  await t.time.advance(1_000);
  const other = await t.worker("b", { slots: 1 });
  expect(await other.next("assign")).toMatchObject({ execution_id: early.execution_id });
});

test("a restarted server takes up what was waiting", async () => {
  await using t = await TestEngine.start();
  const { execution_id } = await t.run();
  await t.restart();
  const worker = await t.worker();
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("DSP-5 the safety tick finds a waiting execution that nobody told of", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { record, module_hash } = await t.engine.catalog.resolve("default", "hello");
  await t.store.executions.create({
    execution_id: "01900000-0000-7000-8000-00000000000a",
    namespace: "default",
    workflow: "hello",
    version: record.version,
    module_hash,
    input: "unnoticed",
    trigger: { kind: "api" },
    by: null,
    seed: "seed",
    now: t.time.now,
  });
  await t.time.advance(15_000);
  expect(await worker.next("assign")).toMatchObject({ input: "unnoticed" });
});

test("a queue longer than what is read at once is worked off without waiting for a tick", async () => {
  await using t = await TestEngine.start();
  const { module_hash } = await t.engine.catalog.resolve("default", "hello");
  const total = 3_005;
  await Promise.all(
    Array.from({ length: total }, (_, i) =>
      t.store.executions.create({
        execution_id: String(i).padStart(6, "0"),
        namespace: "default",
        workflow: "hello",
        version: 1,
        module_hash,
        input: i,
        trigger: { kind: "api" },
        by: null,
        seed: "seed",
        now: t.time.now,
      }),
    ),
  );
  await t.restart();
  t.time.now += 1;
  await t.run(total);
  const worker = await t.worker("w", { slots: 0 });
  for (let i = 0; i <= total; i++) expect((await worker.next("assign")).input).toBe(i);
});

test("a claim that somebody else won is forgotten", async () => {
  await using t = await TestEngine.start();
  const { execution_id } = await t.run();
  // Another server on the same store was faster.
  const session = "elsewhere";
  await t.store.executions.change(execution_id, (row) => ({
    events: [],
    patch: { state: "CLAIMED", worker: "x", session, generation: row.generation + 1 },
  }));
  const worker = await t.worker();
  await settled();
  expect(worker.heard).toEqual(["welcome"]);
  expect(await t.row(execution_id)).toMatchObject({ worker: "x", generation: 1 });
});

test("WRK-7 a long history rides the assignment with its end only", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  const warning = { code: "history_large", message: "x".repeat(100 * 1024) };
  const big = worker.event(assigned, "WORKFLOW_WARNING", warning);
  const started = worker.event(assigned, "WORKFLOW_STARTED", null);
  await worker.checkpoint(assigned, 2, "RUNNING", [started, big, big, big, big]);
  await t.engine.workers.release(worker.ref, [
    { execution_id, generation: 1, reason: "runner_lost" },
  ]);
  const again = await worker.next("assign");
  expect(again).toMatchObject({ reason: "recover", head: 8, history: { after: 5 } });
  expect(again.history.events.map(({ seq }) => seq)).toEqual([6, 7, 8]);
  const { workers } = t.engine;
  const page = await workers.events(worker.ref, execution_id, {
    generation: 2,
    after: 0,
    limit: 1000,
  });
  expect(page.events).toHaveLength(8);
});

test("RUN-4 WRK-7 a resume brings the worker that may keep a copy only what is new, any other the whole log", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  const steps = Array.from({ length: 100 }, (_, i) => [
    worker.callEvent("TASK_STARTED", `step~${i + 1}`),
    worker.callEvent("TASK_COMPLETED", `step~${i + 1}`),
  ]);
  await worker.started(assigned, steps.flat());
  const pause = { name: "answer", output: null };
  await worker.checkpoint(assigned, 203, "PAUSED", [
    worker.pauseEvent("TASK_STARTED", pause),
    worker.pauseEvent("TASK_PAUSED", pause),
    worker.event(assigned, "WORKFLOW_PAUSED", pause),
  ]);
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  const resumed = await worker.next("assign");
  expect(resumed).toMatchObject({ reason: "resume", head: 210, history: { after: 160 } });
  expect(resumed.history.events.map(({ seq }) => seq)).toEqual(
    Array.from({ length: 50 }, (_, i) => 161 + i),
  );

  await t.engine.workers.disconnect(worker.ref);
  const other = await t.worker("b");
  expect((await other.next("assign")).history).toMatchObject({ after: 0, events: { length: 211 } });
});

test("an idle engine asks the store for nothing but heartbeats, the safety tick and what is due soon", async () => {
  await using t = await TestEngine.start();
  const workers = [];
  for (const name of ["a", "b", "c", "d", "e"]) workers.push(await t.worker(name));
  await t.time.advance(10_000);
  const before = t.store.statementCount();
  for (let s = 0; s < 60; s += 10) {
    for (const worker of workers) {
      await worker.beat();
    }
    await t.time.advance(10_000);
  }
  const statements = t.store.statementCount() - before;
  // A flush is one statement in a transaction of its own (begin, update, commit): at most 12 of
  // them; the safety tick is four reads, 4 times; and the timers look ahead every half minute.
  expect(statements).toBeLessThanOrEqual(12 * 3 + 4 * 4 + 2);
  expect(statements).toBeGreaterThan(0);
});
