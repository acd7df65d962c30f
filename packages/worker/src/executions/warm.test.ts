import type { Event } from "@engine/contract";
import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker, type TestWorker } from "../testing/test-worker.ts";
import { until } from "../testing/until.ts";

/** Bodies of one bundle on one thread share `entered`, and `counted` reads it. */
const PAUSING = `
import { pause, sleep, task, workflow } from "@engine/sdk";
let entered = 0;
const note = task({ name: "note" }, async (text) => text.toUpperCase());
const count = task({ name: "count" }, async () => entered);
const end = task({ name: "end" }, async () => process.exit(3));
export const counted = workflow({ name: "counted" }, async () => count());
export const ending = workflow({ name: "ending" }, async () => end());
export const twice = workflow({ name: "twice" }, async (input) => {
  entered++;
  const noted = await note(input);
  const first = await pause("first");
  const second = await pause("second");
  return [noted, first, second, await note(String(second))];
});
export const sleeping = workflow({ name: "sleeping" }, async () => {
  entered++;
  await sleep("2s");
  return "awake";
});
export const nested = workflow({ name: "nested" }, async () => {
  entered++;
  return outer();
});
const outer = task({ name: "outer" }, async (_, { signal }) => {
  signal.addEventListener("abort", () => { entered += 100; });
  return pause("inner");
});
`;

async function entries(server: FakeServer, hash: string): Promise<number> {
  return (await server.finished(server.start("counted", hash))).output as number;
}

/** A log without what depends on the clock. */
function essence(log: readonly Event[]): unknown[] {
  return log.map(({ time: _, meta, ...event }) => {
    const { duration_ms: __, clock: ___, ...rest } = meta ?? {};
    return { ...event, meta: rest };
  });
}

/** Runs `twice` with two resumes, each after the worker has taken note of the pause. */
async function runTwice(worker: TestWorker, server: FakeServer, hash: string): Promise<string> {
  const id = server.start("twice", hash, { input: "ada" });
  for (const answer of ["yes", "no"]) {
    await server.until(() => server.row(id).state === "PAUSED");
    await until(() => worker.status().running === 0);
    server.resume(id, answer);
  }
  await server.finished(id);
  return id;
}

test("RUN-4 an execution goes on where it waits: its code does not run again, and its log does not tell", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const hash = server.addModule(PAUSING);
  const id = await runTwice(worker, server, hash);
  expect(await entries(server, hash)).toBe(1);

  const other = new FakeServer();
  await using cold = await startTestWorker(other, { warm_executions: 0 });
  const again = await runTwice(cold, other, other.addModule(PAUSING));
  expect(cold.status().warm).toBe(0);
  expect(await entries(other, hash)).toBe(3);
  expect(again).toBe(id);
  expect(essence(server.log(id))).toEqual(essence(other.log(id)));
  expect(server.row(id)).toMatchObject({ output: ["ADA", "yes", "no", "NO"], generation: 3 });
  expect(server.refusals).toEqual([]);
});

test("RUN-4 an execution that waits takes no slot, and one that is parked wakes like a paused one", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, { slots: 1 });
  const hash = server.addModule(PAUSING);
  const id = server.start("sleeping", hash);
  await until(() => worker.status().warm === 1);
  expect(worker.status().running).toBe(0);
  expect(server.row(id)).toMatchObject({ state: "RUNNING", session: null });
  server.wake(id);

  expect(await server.finished(id)).toMatchObject({ output: "awake", generation: 2 });
  expect(await entries(server, hash)).toBe(1);
  expect(worker.status().warm).toBe(0);
});

test("RUN-4 over the limit the copy that waits longest is dropped, and nobody notices", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, { warm_executions: 2 });
  const hash = server.addModule(PAUSING);
  const ids: string[] = [];
  for (const input of ["a", "b", "c"]) {
    const id = server.start("twice", hash, { input });
    ids.push(id);
    await server.until(() => server.row(id).state === "PAUSED");
    await until(() => worker.status().running === 0);
  }
  expect(worker.status().warm).toBe(2);
  expect(await entries(server, hash)).toBe(3);

  // The last one first: those that were kept must not be pushed out by what wakes.
  for (const id of ids.toReversed()) {
    server.resume(id, "yes");
    await server.until(() => server.row(id).generation === 2 && server.row(id).state === "PAUSED");
    await until(() => worker.status().running === 0);
    server.resume(id, "no");
    expect(await server.finished(id)).toMatchObject({ state: "COMPLETED", generation: 3 });
  }
  // Only the first one had to run its code from the top.
  expect(await entries(server, hash)).toBe(4);
});

test("RUN-4 dropping a copy tells nothing to a task that waits in it", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, { warm_executions: 1 });
  const hash = server.addModule(PAUSING);
  for (const name of ["nested", "nested"]) {
    const id = server.start(name, hash);
    await server.until(() => server.row(id).state === "PAUSED");
    await until(() => worker.status().running === 0);
  }
  expect(worker.status().warm).toBe(1);
  expect(await entries(server, hash)).toBe(2);
});

test("RUN-4 a copy whose execution ran elsewhere meanwhile is replaced by a replay", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const hash = server.addModule(PAUSING);
  const id = server.start("twice", hash, { input: "ada" });
  await until(() => worker.status().warm === 1);
  server.dispatching = false;
  server.resume(id, "yes");
  const pause = { source_id: "pause~2", name: "pause", kind: "pause" } as const;
  const self = { source_id: id, name: "twice", kind: null } as const;
  const shown = { name: "second", output: null };
  server.runElsewhere(id, [
    { ...self, type: "WORKFLOW_RESUMED", value: null },
    { ...pause, type: "TASK_STARTED", value: shown },
    { ...pause, type: "TASK_PAUSED", value: shown },
    { ...self, type: "WORKFLOW_PAUSED", value: shown },
  ]);
  server.dispatching = true;
  // The server hopes for the copy and sends what is new only: the replay reads the rest.
  server.framedHistory = 3;
  server.resume(id, "no");

  expect(await server.finished(id)).toMatchObject({
    output: ["ADA", "yes", "no", "NO"],
    generation: 3,
  });
  expect(await entries(server, hash)).toBe(2);
  expect(server.refusals).toEqual([]);
});

test("RUN-4 a copy that waits needs only what its log has gained", async () => {
  const server = new FakeServer();
  const reads: string[] = [];
  server.before = (call) => void (call === "events" && reads.push(call));
  await using worker = await startTestWorker(server);
  const hash = server.addModule(PAUSING);
  const id = server.start("twice", hash, { input: "ada" });
  await until(() => worker.status().warm === 1);
  // What a resume writes, and the claim.
  server.framedHistory = 4;
  server.resume(id, "yes");
  await server.until(() => server.row(id).generation === 2 && server.row(id).state === "PAUSED");
  await until(() => worker.status().warm === 1);
  expect(reads).toEqual([]);

  server.framedHistory = 1;
  server.resume(id, "no");
  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED", generation: 3 });
  expect(reads).toEqual(["events"]);
  server.framedHistory = 100;
  expect(await entries(server, hash)).toBe(1);
});

test("RUN-2 what waits on a thread that dies goes on by a replay on the next one", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const hash = server.addModule(PAUSING);
  const id = server.start("twice", hash, { input: "ada" });
  await until(() => worker.status().warm === 1);
  server.before = (call) => {
    if (call === "release") server.dispatching = false;
  };
  server.start("ending", hash);
  await until(() => worker.status().warm === 0);
  server.row(id);
  server.resume(id, "yes");
  server.dispatching = true;
  await server.until(() => server.row(id).generation === 2 && server.row(id).state === "PAUSED");
  expect(server.types(id).filter((type) => type === "TASK_COMPLETED")).toHaveLength(2);
});

test("RUN-4 a copy that is taken away while its log is read does not wake", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const hash = server.addModule(PAUSING);
  const id = server.start("twice", hash, { input: "ada" });
  await until(() => worker.status().warm === 1);
  server.framedHistory = 1;
  const reading = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  server.before = (call) => {
    if (call !== "events") return;
    reading.resolve();
    return held.promise;
  };
  server.resume(id, "yes");
  await reading.promise;
  server.dispatching = false;
  server.send({ event: "revoke", data: { execution_id: id, generation: 2, reason: "moved" } });
  held.resolve();
  server.takeAway(id);
  server.framedHistory = 100;
  server.before = () => {};
  server.dispatching = true;
  // Something new makes this server look at its queue.
  await entries(server, hash);
  await server.until(() => server.row(id).generation === 3 && server.row(id).state === "PAUSED");
  await until(() => worker.status().warm === 1);

  expect(server.refusals).toEqual([]);
  expect(await entries(server, hash)).toBe(2);
});
