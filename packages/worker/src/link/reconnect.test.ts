import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineError } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { AT_GATE, createGate } from "../testing/gate.ts";
import { ManualTime } from "../testing/manual-time.ts";
import { slowConfigs } from "../testing/slow-configs.ts";
import { startTestWorker } from "../testing/test-worker.ts";

const GATED = `
import { writeFileSync } from "node:fs";
import { getConfig, task, workflow } from "@engine/sdk";
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
export const gated = workflow({ name: "gated" }, async (name) => wait(name));
const ask = task({ name: "ask" }, async () => getConfig("answer"));
const mark = task({ name: "mark" }, async (file) => writeFileSync(file, "started"));
export const marking = workflow({ name: "marking" }, async (file) => {
  await ask();
  await mark(file);
});
`;

function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "engine-reconnect-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "mark");
}

test("a server that is away at start is tried until it answers, with one line of log", async () => {
  const server = new FakeServer();
  let tries = 0;
  server.before = (call) => {
    if (call === "register" && tries++ < 4) throw new Error("connect ECONNREFUSED");
  };
  await using worker = await startTestWorker(server);
  await worker.connected;

  expect(tries).toBe(5);
  expect(worker.lines.filter((line) => line.includes("cannot be reached"))).toHaveLength(1);
});

test("WRK-8 a cut stream is opened again with what is held, and running bodies go on", async () => {
  const server = new FakeServer();
  using gate = createGate("cut-stream");
  await using _worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  server.cut();
  await server.until(() => server.connects.length === 2);
  gate.open();

  expect(await server.finished(id)).toMatchObject({ output: "waited", generation: 1 });
  expect(server.connects[1]).toEqual([{ execution_id: id, generation: 1, seq: 4 }]);
});

test("WRK-8 a stream that brings no frame for three heartbeats is opened again", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  await using worker = await startTestWorker(server, {}, { time });
  await worker.connected;
  await time.advance(20_000);
  expect(server.connects, "two heartbeats are no silence").toHaveLength(1);
  server.send({ event: "ping", data: {} });
  await time.advance(29_900);
  expect(server.connects, "counted from the last frame").toHaveLength(1);
  await time.advance(200);
  await server.until(() => server.connects.length === 2);
  expect(server.registrations).toHaveLength(1);
});

test("WRK-8 while the stream is down outcomes are recorded and no new body starts", async () => {
  const server = new FakeServer();
  const { values, asked, answer } = slowConfigs();
  await using _worker = await startTestWorker(server, {}, { values });
  const file = freshFile();
  const id = server.start("marking", server.addModule(GATED), { input: file });
  await asked("answer");
  const isBack = Promise.withResolvers<void>();
  const isTried = Promise.withResolvers<void>();
  server.before = (call) => {
    if (call !== "connect") return;
    isTried.resolve();
    return isBack.promise;
  };
  server.cut();
  await isTried.promise;
  answer("answer");
  const isStarted = () =>
    server.log(id).some(({ type, name }) => type === "TASK_STARTED" && name === "mark");
  await server.until(isStarted);
  expect(server.types(id)).toContain("TASK_COMPLETED");
  expect(existsSync(file)).toBe(false);

  isBack.resolve();
  await server.finished(id);
  expect(existsSync(file)).toBe(true);
  expect(server.row(id)).toMatchObject({ state: "COMPLETED", generation: 1 });
});

test("WRK-8 what a process finds on its stream after it was stopped for too long comes too late", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  await using worker = await startTestWorker(server, {}, { time });
  await worker.connected;
  time.jump(29_999);
  server.send({ event: "control", data: { command: "pause" } });
  await server.until(() => server.heartbeats.at(-1)?.status === "paused");

  time.jump(30_000);
  server.send({ event: "control", data: { command: "resume" } });
  await time.advance(100);
  await server.until(() => server.connects.length === 2);
  expect(server.heartbeats.at(-1)).toMatchObject({ status: "paused" });
});

test("WRK-8 tries to connect spread over 100 ms, doubled up to 5 s", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  await using worker = await startTestWorker(server, {}, { time, random: () => 0.999 });
  await worker.connected;
  const tries: number[] = [];
  server.before = (call) => {
    if (call !== "connect") return;
    tries.push(time.monotonic());
    throw new Error("connect ECONNREFUSED");
  };
  const cutAt = time.monotonic();
  server.cut();
  await time.advance(25_000);

  const waits = tries.map((at, i) => Math.round(at - (tries[i - 1] ?? cutAt)));
  expect(waits.slice(0, 8)).toEqual([100, 200, 400, 799, 1598, 3197, 4995, 4995]);
});

test("WRK-13 a worker that is told to reconnect goes when it was told to, and keeps what it runs", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  using gate = createGate("moves-on");
  await using worker = await startTestWorker(server, { stuck_after: 100_000 }, { time });
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  server.send({ event: "control", data: { command: "reconnect", delay_seconds: 0.8 } });
  await time.advance(790);
  expect(server.isConnected, "until then its stream serves on").toBe(true);
  expect(server.connects).toHaveLength(1);

  await time.advance(200);
  await server.until(() => server.connects.length === 2);
  gate.open();
  expect(await server.finished(id)).toMatchObject({ output: "waited", generation: 1 });
  expect(server.registrations).toHaveLength(1);
  expect(worker.lines.filter((line) => line.includes("cannot be reached"))).toEqual([]);
});

test("WRK-13 without a delay a worker that is told to reconnect takes one of up to a second", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  await using worker = await startTestWorker(server, {}, { time, random: () => 0.5 });
  await worker.connected;
  server.send({ event: "control", data: { command: "reconnect" } });
  await time.advance(490);
  expect(server.connects).toHaveLength(1);
  await time.advance(100);
  expect(server.connects).toHaveLength(2);
});

test("WRK-9 a worker goes on with what it is told to keep under a new generation", async () => {
  const server = new FakeServer();
  using gate = createGate("adopted");
  await using _worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  server.adopting = true;
  server.takeAway(id);
  server.cut();
  await server.until(() => server.connects.length === 2);
  gate.open();
  await server.until(() => server.releases.length > 0 || server.row(id).finished_at !== null);

  expect(server.releases).toEqual([]);
  expect(server.row(id)).toMatchObject({ output: "waited", generation: 2 });
  expect(server.types(id).filter((type) => type === "TASK_STARTED")).toHaveLength(1);
});

test("WRK-9 a worker stops what it is told to drop", async () => {
  const server = new FakeServer();
  using gate = createGate("dropped");
  await using worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  server.dispatching = false;
  server.takeAway(id);
  server.cut();
  await server.until(() => server.connects.length === 2);
  const batches = server.batches.length;
  gate.open();
  await worker.stop();

  expect(server.batches).toHaveLength(batches);
});

test("WRK-3 a worker whose session is unknown registers again as the same process", async () => {
  const server = new FakeServer();
  using gate = createGate("session-unknown");
  await using _worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  server.forgetSessions();
  gate.open();

  expect(await server.finished(id)).toMatchObject({ output: "waited", generation: 1 });
  const [first, second] = server.registrations;
  expect(server.registrations).toHaveLength(2);
  expect(second?.instance_id).toBe(first?.instance_id);
});

test("WRK-4 a superseded worker writes nothing more and ends naming the new process", async () => {
  const server = new FakeServer();
  using gate = createGate("superseded");
  await using worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  const batches = server.batches.length;
  server.send({ event: "superseded", data: { host: "build-7", pid: 4711 } });
  gate.open();
  await worker.stopped;

  expect(worker.exits).toEqual([
    { code: 1, message: expect.stringMatching(/process 4711 on build-7/) },
  ]);
  expect(server.batches).toHaveLength(batches);
  expect(server.releases).toEqual([]);
  expect(server.registrations).toHaveLength(1);
});

test("WRK-4 a call answered session_superseded ends the worker too", async () => {
  const server = new FakeServer();
  server.heartbeatSeconds = 0.02;
  server.before = (call) => {
    if (call !== "heartbeat") return;
    throw new EngineError("session_superseded", "another process has this name", {
      details: { host: "build-7", pid: 4711 },
    });
  };
  await using worker = await startTestWorker(server);
  await worker.stopped;

  expect(worker.exits).toMatchObject([{ code: 1, message: expect.stringContaining("build-7") }]);
});

test("WRK-5 a worker that the server refuses ends with the server's reason", async () => {
  const server = new FakeServer();
  server.before = () => {
    throw new EngineError("reserved_label", "label engine.x belongs to the engine");
  };
  await using worker = await startTestWorker(server);
  await worker.stopped;

  expect(worker.exits).toEqual([{ code: 2, message: expect.stringContaining("label engine.x") }]);
});

test("LIV-1 a worker says at once that it is paused, resumed or drained", async () => {
  const server = new FakeServer();
  using gate = createGate("told-at-once");
  // No time passes here: none of the heartbeats is one that was due.
  await using worker = await startTestWorker(server, {}, { time: new ManualTime() });
  server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  for (const [command, status] of [
    ["pause", "paused"],
    ["resume", "active"],
    ["drain", "draining"],
  ] as const) {
    server.send({ event: "control", data: { command } });
    await server.until(() => server.heartbeats.at(-1)?.status === status);
  }
  expect(server.heartbeats.map(({ status }) => status)).toEqual(["paused", "active", "draining"]);
  gate.open();
  await worker.stopped;
});

test("WRK-11 a worker that was resumed while it was away is not paused when it is back", async () => {
  const server = new FakeServer();
  server.heartbeatSeconds = 0.2;
  await using worker = await startTestWorker(server);
  await worker.connected;
  server.send({ event: "control", data: { command: "pause" } });
  await server.until(() => server.heartbeats.at(-1)?.status === "paused");
  server.cut();

  await server.until(() => server.heartbeats.at(-1)?.status === "active");
});

test("WRK-11 what a worker runs goes on while it is paused", async () => {
  const server = new FakeServer();
  using gate = createGate("paused-worker");
  await using _worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  server.send({ event: "control", data: { command: "pause" } });
  await server.until(() => server.heartbeats.at(-1)?.status === "paused");
  gate.open();

  expect(await server.finished(id)).toMatchObject({ output: "waited", generation: 1 });
});

test("DSP-9 a cancel is acknowledged by a heartbeat of its own, whatever else the worker is told", async () => {
  const server = new FakeServer();
  using gate = createGate("acknowledges");
  await using _worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  server.send({ event: "control", data: { command: "pause" } });
  await server.until(() => server.heartbeats.length === 1);
  // Whatever it answers in the log does not arrive.
  const silent = Promise.withResolvers<void>();
  server.before = (call) => (call === "checkpoints" ? silent.promise : undefined);
  server.cancel(id);
  const { head } = server.row(id);
  await server.until(() => server.heartbeats.length === 2);
  silent.resolve();

  expect(server.heartbeats[1]?.running).toEqual([{ execution_id: id, generation: 1, seq: head }]);
});

test("RUN-5 a worker says at once that it cannot keep up, and that it can again", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  await using worker = await startTestWorker(server, {}, { time });
  await worker.connected;
  for (let probe = 0; probe < 3; probe++) {
    time.jump(2_000);
    await time.advance(0);
  }
  await server.until(() => server.heartbeats.at(-1)?.healthy === false);
  await time.advance(4_000);
  await server.until(() => server.heartbeats.at(-1)?.healthy === true);
  expect(worker.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
});

test("RES-3 a worker registers with what it has: resources, packages, and what is configured of both", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, {
    resources: { cpu: 2, memory: "4GiB" },
    packages: ["@acme/models@2.1.0"],
  });
  await worker.connected;
  const [registration] = server.registrations;

  expect(registration?.resources).toMatchObject({
    cpu_total: 2,
    cpu_available: 2,
    memory_total: 4 * 2 ** 30,
    disk_total: expect.any(Number),
  });
  expect(registration?.packages).toEqual(
    expect.arrayContaining([
      { name: "@acme/models", version: "2.1.0" },
      { name: "@engine/sdk", version: expect.any(String) },
    ]),
  );
});

test("LIV-1 heartbeats tell what is held and what is free", async () => {
  const server = new FakeServer();
  server.heartbeatSeconds = 0.02;
  using gate = createGate("heartbeat");
  await using _worker = await startTestWorker(server, { slots: 3 });
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  const holds = () => server.heartbeats.some((heartbeat) => heartbeat.running.length > 0);
  await server.until(holds);
  gate.open();
  await server.finished(id);
  const heartbeat = server.heartbeats.find(({ running }) => running.length > 0);

  expect(heartbeat).toMatchObject({ running: [{ execution_id: id, generation: 1 }] });
  expect(heartbeat).toMatchObject({
    status: "active",
    healthy: true,
    slots_free: 2,
    stuck_threads: 0,
    metrics: { "engine.running_executions": 1, "engine.slots_free": 2 },
    resources: { cpu_total: expect.any(Number), memory_available: expect.any(Number) },
  });
});
