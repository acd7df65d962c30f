import { expect, test } from "vitest";
import type { Follower, FollowPart } from "../executions/follower.ts";
import { settled } from "../testing/manual-time.ts";
import { heartbeat } from "../testing/scripted-worker.ts";
import { hello, type TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

const OTHER_PROCESS = "01900000-0000-7000-8000-000000000002";

async function parts(follower: Follower): Promise<FollowPart[]> {
  const read: FollowPart[] = [];
  for await (const part of follower.frames()) read.push(part);
  return read;
}

function names(read: readonly FollowPart[]): string[] {
  return read.map((part) => (typeof part === "string" ? part : part.event));
}

test("DSP-5 what one server accepts runs on a worker that hangs on the other", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { execution_id } = await t.a.run("from a");
  await t.time.advance(20);
  expect(await worker.next("assign")).toMatchObject({ execution_id, input: "from a" });
});

test("EXE-81 a sync call on one server is answered by a commit on the other within a second", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const answer = t.a.engine.executions.startAndWait(hello("x"));
  await settled();
  await t.time.advance(20);
  await worker.completed(await worker.next("assign"), "done");
  await t.time.advance(20);
  expect((await answer).row).toMatchObject({ state: "COMPLETED", output: "done" });
});

test("EXE-81 a lost wake-up costs a sync call no more than the safety tick", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const answer = t.a.engine.executions.startAndWait(hello("x"));
  await settled();
  await t.time.advance(20);
  const assigned = await worker.next("assign");
  t.hears = false;
  await worker.completed(assigned, "done");
  await t.time.advance(15_000);
  expect((await answer).row).toMatchObject({ state: "COMPLETED" });
});

test("PRG-6 EXE-93 readers on both servers get the same frames, progress included, in one order", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { follower: here } = await t.b.engine.executions.startAndFollow(hello());
  const assigned = await worker.next("assign");
  const there = await t.a.engine.executions.follow({ execution_id: here.execution_id, after: 0 });
  await t.time.advance(20);
  await worker.started(assigned);
  const value = (n: number) => ({ source_id: "t~1", name: "t", value: n, time: "now" });
  for (let n = 0; n < 30; n++) {
    // A load balancer sends a worker's requests to either server.
    const server = n % 2 ? t.a : t.b;
    const batch = { generation: 1, items: [value(2 * n), value(2 * n + 1)] };
    const { workers } = server.engine;
    const answer = await workers.progress(worker.ref, assigned.execution_id, batch);
    expect(answer).toEqual({ accepted: 2, listening: true });
  }
  const end = worker.event(assigned, "WORKFLOW_COMPLETED", null);
  await worker.checkpoint(assigned, 3, "COMPLETED", [end]);
  await t.time.advance(20);
  const [a, b] = await Promise.all([parts(there), parts(here)]);
  expect(a).toEqual(b);
  expect(names(a).filter((name) => name === "task.progress")).toHaveLength(60);
  expect(names(a).at(-1)).toBe("hello.execution.completed");
});

test("PRG-6 a progress value too long for one message reaches the other server whole", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { execution_id } = await t.b.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  const reader = await t.a.engine.executions.follow({ execution_id });
  await t.time.advance(20);
  const long = 'ü€😀"\\'.repeat(5_000);
  const items = [{ source_id: "t~1", name: "t", value: long, time: "now" }];
  await t.b.engine.workers.progress(worker.ref, execution_id, { generation: 1, items });
  await settled();
  const frames = reader.frames();
  await frames.next();
  expect((await frames.next()).value).toMatchObject({ data: { value: long } });
  reader.close();
});

test("PRG-2 a worker is told that nobody watches once the last reader on any server has left", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { execution_id } = await t.b.run();
  const assigned = await worker.next("assign");
  expect(assigned.listen).toBe(false);
  const reader = await t.a.engine.executions.follow({ execution_id });
  await t.time.advance(20);
  expect(await worker.next("listen")).toEqual({ execution_id, on: true });
  reader.close();
  await t.time.advance(1_020);
  expect(await worker.next("listen")).toEqual({ execution_id, on: false });
});

test("DSP-9 a cancel that comes to another server reaches the worker", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { execution_id } = await t.b.run();
  await worker.started(await worker.next("assign"));
  await t.a.engine.executions.cancel({ execution_id, by: null });
  await t.time.advance(20);
  expect(await worker.next("events")).toMatchObject({
    base_seq: 3,
    events: [{ seq: 4, type: "WORKFLOW_CANCELLING" }],
  });
});

test("I16 a checkpoint that comes to another server frees the slot on the one that counts it", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker("w", { slots: 1 });
  await t.b.run("first");
  await t.b.run("second");
  const first = await worker.next("assign");
  const events = [worker.begin(first), worker.event(first, "WORKFLOW_COMPLETED", null)];
  const { execution_id, generation } = first;
  const item = { execution_id, generation, base_seq: 2, state: "COMPLETED" as const, events };
  await t.a.engine.workers.checkpoints(worker.ref, [item]);
  await t.time.advance(20);
  expect(await worker.next("assign")).toMatchObject({ input: "second" });
});

test("WRK-9 LIV-3 a worker that moves to the other server keeps what it runs; the first gives it nothing more", async () => {
  await using t = await TwoServers.start();
  const worker = await t.a.worker("w", { slots: 1 });
  const { execution_id } = await t.a.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  const moved = t.b.strangeWorker("w");
  moved.ref = worker.ref;
  const welcome = await moved.connect([{ execution_id, generation: 1, seq: 3 }]);
  expect(welcome.keep).toEqual([{ execution_id, generation: 1 }]);
  await t.time.advance(20);
  await worker.connection?.closed;
  await t.a.run("waits for the slot");
  // The grace of the old stream takes nothing from it.
  await t.time.advance(20_000);
  expect(await t.a.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
  const end = moved.event(assigned, "WORKFLOW_COMPLETED", 1);
  expect(await moved.checkpoint(assigned, 3, "COMPLETED", [end])).toMatchObject({ seq: 4 });
  await t.time.advance(20);
  expect(await moved.next("assign")).toMatchObject({ input: "waits for the slot" });
});

test("DSP-3 a server that lost a worker's stream cannot claim for it, whatever it believes", async () => {
  await using t = await TwoServers.start();
  const worker = await t.a.worker("w");
  t.hears = false;
  const moved = t.b.strangeWorker("w");
  moved.ref = worker.ref;
  await moved.connect();
  const { execution_id } = await t.a.run();
  await settled();
  expect(worker.heard).toEqual(["welcome"]);
  expect(await t.a.row(execution_id)).toMatchObject({ state: "CREATED", worker: null });
  await t.time.advance(15_000);
  expect(await moved.next("assign")).toMatchObject({ execution_id });
});

test("DSP-3 nor can it once it has registered the worker again, which tells it of the later epoch", async () => {
  await using t = await TwoServers.start();
  const worker = await t.a.worker("w", { slots: 1 });
  t.hears = false;
  const moved = t.b.strangeWorker("w");
  moved.ref = worker.ref;
  await moved.connect();
  const taken = await t.b.run();
  expect(await moved.next("assign")).toMatchObject({ execution_id: taken.execution_id });
  // The stream to the first server is half open: it has noticed nothing.
  await worker.register({ slots: 1 });
  const { execution_id } = await t.a.run();
  await settled();
  expect(worker.heard).toEqual(["welcome"]);
  expect(await t.a.row(execution_id)).toMatchObject({ state: "CREATED", worker: null });
});

test("LIV-3 what a worker ran whose server was killed goes on with a worker of the other one", async () => {
  await using t = await TwoServers.start();
  await t.time.advance(31_000);
  const dying = await t.a.worker("dying");
  const { execution_id } = await t.a.run();
  await dying.started(await dying.next("assign"));
  const other = await t.b.worker("other");
  t.kill(t.a);
  await t.time.advance(15_000);
  expect(await other.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("LIV-2 a worker whose server was killed moves to the other one and nothing is handed over", async () => {
  await using t = await TwoServers.start();
  await t.time.advance(31_000);
  const worker = await t.a.worker();
  const { execution_id } = await t.a.run();
  await worker.started(await worker.next("assign"));
  await t.b.worker("idle");
  t.kill(t.a);
  await t.time.advance(1_000);
  const moved = t.b.strangeWorker("w");
  moved.ref = worker.ref;
  const welcome = await moved.connect([{ execution_id, generation: 1, seq: 3 }]);
  expect(welcome.keep).toEqual([{ execution_id, generation: 1 }]);
  await t.time.advance(15_000);
  expect(await t.b.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
});

test("WRK-4 a process that takes the name over on one server ends the one on the other", async () => {
  await using t = await TwoServers.start();
  const old = await t.a.worker("w");
  const { execution_id } = await t.a.run();
  await old.started(await old.next("assign"));
  const fresh = t.b.strangeWorker("w");
  await fresh.register({ instance_id: OTHER_PROCESS, host: "there", pid: 7 });
  await t.time.advance(20);
  expect(await old.next("superseded")).toEqual({ host: "there", pid: 7 });
  await old.connection?.closed;
  await fresh.connect();
  expect(await fresh.next("assign")).toMatchObject({ execution_id, generation: 2 });
  await expect(old.beat()).rejects.toMatchObject({
    code: "session_superseded",
    details: { host: "there", pid: 7 },
  });
});

test("WRK-11 a worker that is paused on one server gets no more work from the other", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  await t.a.engine.fleet.pause("w");
  await t.time.advance(20);
  expect(await worker.next("control")).toEqual({ command: "pause" });
  const { execution_id } = await t.b.run();
  await t.time.advance(20_000);
  expect(await t.b.row(execution_id)).toMatchObject({ state: "CREATED" });
  await t.a.engine.fleet.resume("w");
  await t.time.advance(20);
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("WRK-11 WRK-12 what operators decide reaches a worker of another server though the news of it were lost", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  t.hears = false;
  await t.a.engine.fleet.pause("w");
  await t.time.advance(15_000);
  expect(await worker.next("control")).toEqual({ command: "pause" });
  await worker.beat([], { status: "paused" });
  await t.a.engine.fleet.resume("w");
  await t.time.advance(15_000);
  expect(await worker.next("control")).toEqual({ command: "resume" });
  await worker.beat();
  await t.a.engine.fleet.drain("w", 5);
  await t.time.advance(15_000);
  expect(await worker.next("control")).toEqual({ command: "drain" });
});

test("WRK-12 a drain on one server reaches the worker on the other one once, with its timeout", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  await t.a.engine.fleet.drain("w", 5);
  await t.time.advance(20);
  expect(await worker.next("control")).toEqual({ command: "drain", timeout_seconds: 5 });
  await t.time.advance(15_000);
  expect(worker.heard.filter((event) => event === "control")).toHaveLength(1);
  await t.a.engine.fleet.drain("w", 0);
  await t.time.advance(20);
  expect(await worker.next("control")).toEqual({ command: "drain", timeout_seconds: 0 });
});

test.each([
  ["has heard of", true],
  ["has not heard of", false],
])(
  "WRK-11 a paused worker that comes to a server which %s it is told so as it connects",
  async (_, hears) => {
    await using t = await TwoServers.start();
    const before = await t.a.worker();
    await t.a.engine.fleet.pause("w");
    await t.a.engine.workers.disconnect(before.ref);
    await t.time.advance(20);
    t.hears = hears;
    const worker = t.a.strangeWorker();
    await worker.register({ instance_id: OTHER_PROCESS });
    await t.time.advance(20);
    const moved = t.b.strangeWorker();
    moved.ref = worker.ref;
    await moved.connect();
    expect(moved.heard).toEqual(["welcome", "control"]);
    expect(await moved.next("control")).toEqual({ command: "pause" });
  },
);

test("LIV-1 a heartbeat that comes to another server still shows what never arrived", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { execution_id } = await t.b.run();
  await worker.next("assign");
  await t.time.advance(11_000);
  for (let beat = 0; beat < 2; beat++) {
    await t.a.engine.workers.heartbeat(worker.ref, heartbeat());
    await t.time.advance(20);
  }
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

async function sleeping(server: TestEngine, ms: number): Promise<string> {
  const worker = await server.worker(`sleeper-${ms}`);
  const { execution_id } = await server.run();
  const assigned = await worker.next("assign");
  const until = new Date(server.time.now + ms).toISOString();
  await worker.parked(assigned, [worker.callEvent("TASK_STARTED", "sleep~1", { until })]);
  worker.connection?.close();
  return execution_id;
}

test("EXE-50 the leading server ends sleeps that began on the other one", async () => {
  await using t = await TwoServers.start();
  const id = await sleeping(t.b, 5_000);
  await t.time.advance(4_990);
  expect(await t.b.row(id)).toMatchObject({ state: "RUNNING" });
  await t.time.advance(30);
  expect(await t.b.row(id)).toMatchObject({ state: "RESUMING" });
});

test("EXE-50 I10 the lead moves on when its server is killed, and what is due is ended once", async () => {
  await using t = await TwoServers.start();
  const id = await sleeping(t.b, 5_000);
  t.kill(t.a);
  await t.time.advance(5_000);
  expect(await t.b.row(id)).toMatchObject({ state: "RESUMING" });
  const resumed = (await t.b.types(id)).filter((type) => type === "WORKFLOW_RESUMING");
  expect(resumed).toHaveLength(1);
});

test.each([
  ["", 0],
  [", also where the timer comes before the clock says so", 1],
])(
  "DSP-6 a resume goes back to its worker on the other server, and elsewhere after 200 ms when that is full%s",
  async (_, early) => {
    await using t = await TwoServers.start();
    const original = await t.b.worker("original", { slots: 1 });
    const { execution_id } = await t.b.run();
    await original.paused(await original.next("assign"));
    const other = await t.a.worker("other");
    await t.time.advance(20);
    await t.a.engine.executions.resume({ execution_id, input: 1, by: null });
    await t.time.advance(20);
    const again = await original.next("assign");
    expect(again).toMatchObject({ execution_id, generation: 2 });
    expect(other.heard).toEqual(["welcome"]);

    await original.paused({ ...again, history: { after: 0, events: [] } });
    await t.time.advance(20);
    const filler = { ...hello("filler"), required_worker: "original" };
    await t.b.engine.executions.start(filler);
    await t.time.advance(20);
    t.time.early = early;
    await t.a.engine.executions.resume({ execution_id, input: 1, by: null });
    await t.time.advance(199 - early);
    expect(other.heard).toEqual(["welcome"]);
    await t.time.advance(1);
    expect(await other.next("assign")).toMatchObject({ execution_id, generation: 3 });
  },
);

test("WRK-13 a stopping server lets its workers move before it closes their streams", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { execution_id } = await t.b.run();
  await worker.started(await worker.next("assign"));
  const closing = t.stop(t.b);
  await settled();
  expect(await worker.next("control")).toEqual({ command: "reconnect", delay_seconds: 0.5 });
  await t.time.advance(500);
  expect(await t.a.row(execution_id)).toMatchObject({ worker: "w" });
  const moved = t.a.strangeWorker("w");
  moved.ref = worker.ref;
  const welcome = await moved.connect([{ execution_id, generation: 1, seq: 3 }]);
  expect(welcome.keep).toEqual([{ execution_id, generation: 1 }]);
  await worker.connection?.closed;
  await closing;
  await t.time.advance(20_000);
  expect(await t.a.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
});

test("WRK-13 a stopping server does not wait for a worker that will not move", async () => {
  await using t = await TwoServers.start();
  await t.b.worker();
  const closing = t.stop(t.b);
  await settled();
  await t.time.advance(1_500);
  await closing;
});

test("LIV-2 a worker whose requests all come to another server is not silent, also when news are lost", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { execution_id } = await t.b.run();
  await worker.started(await worker.next("assign"));
  t.hears = false;
  const holding = { execution_id, generation: 1, seq: 3 };
  const beat = heartbeat([holding]);
  for (let s = 0; s < 90; s += 10) {
    await t.a.engine.workers.heartbeat(worker.ref, beat);
    await t.time.advance(10_000);
  }
  expect(await t.b.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
  expect(worker.connection).toBeDefined();
});

test("EXE-67 EXE-70 what one server registers or deletes is what the other one starts from then on", async () => {
  await using t = await TwoServers.start();
  const version = async () => (await t.b.run()).version;
  expect(await version()).toBe(1);
  const source = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async () => "second");
`;
  await t.a.engine.catalog.register({ source }, { by: null });
  expect(await version()).toBe(2);
  await t.a.engine.catalog.delete("default", "hello", 2);
  expect(await version()).toBe(1);
  t.hears = false;
  await t.a.engine.catalog.delete("default", "hello");
  await t.time.advance(15_000);
  await expect(version()).rejects.toMatchObject({ code: "not_found" });
});
