import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { FakeServer } from "./testing/fake-server.ts";
import { AT_GATE, createGate } from "./testing/gate.ts";
import { startTestWorker } from "./testing/test-worker.ts";

const GATED = `
import { task, workflow } from "@engine/sdk";
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
export const gated = workflow({ name: "gated" }, async (name) => wait(name));
`;

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
  server.heartbeatSeconds = 0.02;
  await using _worker = await startTestWorker(server);

  await server.until(() => server.connects.length === 3);
  expect(server.registrations).toHaveLength(1);
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
  expect(heartbeat?.slots_free).toBe(2);
});
