import type { WorkerResources } from "@engine/contract";
import { expect, test } from "vitest";
import type { StartRequest } from "../executions/requests.ts";
import { lacksRoom } from "../gate/fits.ts";
import { settled } from "../testing/manual-time.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

const GIB = 2 ** 30;

function resources(changes: Partial<WorkerResources> = {}): WorkerResources {
  return {
    cpu_total: 8,
    cpu_available: 8,
    memory_total: 16 * GIB,
    memory_available: 16 * GIB,
    disk_total: 100 * GIB,
    disk_free: 100 * GIB,
    gpus: [],
    ...changes,
  };
}

function start(t: TestEngine, request: Partial<StartRequest>) {
  return t.engine.executions.start({ ...hello(), ...request });
}

test("DSP-7 a preferred worker gets the start while it has room, and is passed over when it has none", async () => {
  await using t = await TestEngine.start();
  await t.worker("a");
  await t.worker("b", { slots: 1 });
  const ask = { preferred_worker: "b" };
  expect((await start(t, ask)).row).toMatchObject({ worker: "b" });
  expect((await start(t, ask)).row).toMatchObject({ worker: "a" });
  expect((await start(t, { preferred_worker: "nobody" })).row).toMatchObject({ worker: "a" });
});

test("DSP-7 a required worker is waited for, also when others are free, and on every assignment", async () => {
  await using t = await TestEngine.start();
  const other = await t.worker("a");
  const required = await t.worker("b");
  required.connection?.close();
  const { execution_id } = (await start(t, { required_worker: "b" })).row;
  await t.time.advance(60_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", worker: null });
  await required.connect();
  const assigned = await required.next("assign");
  await required.paused(assigned);
  required.connection?.close();
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  await t.time.advance(5_000);
  expect(other.heard).not.toContain("assign");
  await required.connect();
  expect(await required.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("DSP-7 a required worker that never registered is refused, and nothing is created", async () => {
  await using t = await TestEngine.start();
  await expect(start(t, { required_worker: "nobody" })).rejects.toMatchObject({
    code: "unknown_worker",
    status: 422,
  });
  const filter = { order: "created_desc", limit: 10, offset: 0 } as const;
  expect((await t.engine.executions.list(filter)).total).toBe(0);
});

test("DSP-4 what nobody matches holds nobody up behind it, and starts when a match joins", async () => {
  await using t = await TestEngine.start();
  const offline = await t.worker("picky");
  offline.connection?.close();
  const waiting = (await start(t, { required_worker: "picky" })).row;
  const worker = await t.worker("a");
  const fresh = await t.run("behind");
  expect(await worker.next("assign")).toMatchObject({ execution_id: fresh.execution_id });
  await offline.connect();
  expect(await offline.next("assign")).toMatchObject({ execution_id: waiting.execution_id });
});

test("DSP-4 higher priority starts first", async () => {
  await using t = await TestEngine.start();
  for (const priority of [0, -3, 7]) await start(t, { priority, input: priority });
  const worker = await t.worker("w", { slots: 1 });
  const order: unknown[] = [];
  for (let n = 0; n < 3; n++) {
    const assigned = await worker.next("assign");
    order.push(assigned.input);
    await worker.completed(assigned, null);
  }
  expect(order).toEqual([7, 0, -3]);
});

test("EXE-80 start_at keeps it CREATED until then, and a cancel before then ends it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const start_at = t.time.now + 20_000;
  const { execution_id } = (await start(t, { start_at })).row;
  const cancelled = (await start(t, { start_at })).row;
  await t.engine.executions.cancel({ execution_id: cancelled.execution_id, by: null });
  expect(await t.row(cancelled.execution_id)).toMatchObject({ state: "CANCELLED" });
  await t.time.advance(19_999);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED" });
  expect(worker.heard).not.toContain("assign");
  await t.time.advance(1);
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("EXE-80 a start_at that has passed is no delay", async () => {
  await using t = await TestEngine.start();
  await t.worker();
  expect((await start(t, { start_at: t.time.now - 1 })).row).toMatchObject({ worker: "w" });
});

test("DSP-6 a worker that is preferred stays so after another one had the execution", async () => {
  await using t = await TestEngine.start();
  const first = await t.worker("a");
  const { row } = await start(t, { preferred_worker: "c" });
  expect(row).toMatchObject({ worker: "a", last_worker: null });
  await first.paused(await first.next("assign"));
  await t.engine.workers.disconnect(first.ref);
  await t.worker("b");
  await t.worker("c");
  await start(t, { required_worker: "c" });
  // Both could have it, and the preferred one has more to do.
  const { execution_id } = row;
  await t.engine.executions.resume({ execution_id, input: null, by: null });
  await settled();
  expect(await t.row(execution_id)).toMatchObject({ worker: "c", generation: 2 });
});

test("DSP-6 LIV-5 what its last worker lost goes to the preferred one, and not back to that one", async () => {
  await using t = await TestEngine.start();
  const lost = await t.worker("a");
  const { row } = await start(t, { preferred_worker: "c" });
  await lost.started(await lost.next("assign"));
  await t.worker("b");
  await t.worker("c");
  await start(t, { required_worker: "c" });
  lost.connection?.close();
  await t.time.advance(1_000);
  expect(await t.row(row.execution_id)).toMatchObject({ worker: "c", generation: 2 });
});

test("DSP-6 a fork is not asked to prefer what its source was", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  const { row } = await start(t, { preferred_worker: "c" });
  await worker.completed(await worker.next("assign"), 1);
  const { execution_id } = row;
  const fork = await t.engine.executions.fork({ execution_id, by: null });
  expect(fork.row).toMatchObject({ requirements: null, worker: "a" });
});

test("DSP-8 an execution that no worker takes in time fails, and says what it waited for", async () => {
  await using t = await TestEngine.start();
  const { execution_id } = (await start(t, { park_ttl: 30 })).row;
  await t.time.advance(29_999);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED" });
  await t.time.advance(1_001);
  const { state, failure } = await t.row(execution_id);
  expect(state).toBe("FAILED");
  expect(failure).toMatchObject({
    type: "ParkTimeoutError",
    message: expect.stringContaining("no worker is connected"),
    details: { code: "no_worker" },
  });
});

test("DSP-8 the time is counted anew each time it waits, and start_at is not part of it", async () => {
  await using t = await TestEngine.start({ workers: { park_ttl: 30 } });
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.paused(await worker.next("assign"));
  await t.time.advance(100_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "PAUSED" });
  worker.connection?.close();
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  const later = (await start(t, { start_at: t.time.now + 20_000 })).row;
  await t.time.advance(29_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "RESUMING" });
  await t.time.advance(2_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "FAILED" });
  expect(await t.row(later.execution_id)).toMatchObject({ state: "CREATED" });
  await t.time.advance(20_000);
  expect(await t.row(later.execution_id)).toMatchObject({ state: "FAILED" });
});

test("DSP-8 a run may wait for ever where the server would not let it", async () => {
  await using t = await TestEngine.start({ workers: { park_ttl: 30 } });
  const { execution_id } = (await start(t, { park_ttl: 0 })).row;
  await t.time.advance(1_000_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED" });
});

test("RES-2 a worker has room for what it reports free and what its executions have not reserved", () => {
  const half = { requests: { memory: 8 * GIB } };
  const need = { memory: 6 * GIB };
  expect(lacksRoom(need, resources(), [half])).toBeUndefined();
  expect(lacksRoom(need, resources(), [half, half])).toBe("memory");
  expect(lacksRoom(need, resources({ memory_available: 5 * GIB }), [])).toBe("memory");
  expect(lacksRoom({ gpu: 1 }, resources(), [])).toBe("gpu");
  const gpus = [{ name: "a100", memory_total: 80 * GIB }];
  expect(lacksRoom({ gpu: 1 }, resources({ gpus }), [])).toBeUndefined();
  expect(lacksRoom({ gpu: 1 }, resources({ gpus }), [{ requests: { gpu: 1 } }])).toBe("gpu");
  expect(lacksRoom(need, null, [half, half])).toBeUndefined();
});

test("WRK-11 a paused worker gets no start and no resume, until it is resumed, across restarts", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const paused = await t.run("paused");
  await worker.paused(await worker.next("assign"));
  await t.engine.fleet.pause("w");
  const fresh = await t.run("fresh");
  await t.engine.executions.resume({ execution_id: paused.execution_id, input: 1, by: null });
  await t.restart();
  const again = t.strangeWorker("w");
  await again.register();
  await again.connect();
  expect(await again.next("control")).toEqual({ command: "pause" });
  await t.time.advance(20_000);
  expect(await t.row(fresh.execution_id)).toMatchObject({ state: "CREATED" });
  expect(await t.row(paused.execution_id)).toMatchObject({ state: "RESUMING" });
  const other = await t.worker("other");
  await settled();
  expect(other.heard.filter((name) => name === "assign")).toHaveLength(2);
  await t.engine.fleet.resume("w");
  expect(await again.next("control")).toEqual({ command: "resume" });
});
