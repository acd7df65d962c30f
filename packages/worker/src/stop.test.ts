import { expect, test } from "vitest";
import { FakeServer } from "./testing/fake-server.ts";
import { AT_GATE, createGate } from "./testing/gate.ts";
import { ManualTime } from "./testing/manual-time.ts";
import { slowConfigs } from "./testing/slow-configs.ts";
import { startTestWorker } from "./testing/test-worker.ts";

const GATED = `
import { getConfig, parallel, task, workflow } from "@engine/sdk";
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
export const gated = workflow({ name: "gated" }, async (name) => wait(name));
const ask = task({ name: "ask" }, async (key) => getConfig(key));
export const steps = workflow({ name: "steps" }, async () => {
  for (const key of ["first", "second", "third"]) await ask(key);
});
export const beside = workflow({ name: "beside" }, async () =>
  parallel([() => ask("long"), async () => { await ask("short"); await ask("next"); }]));
export const quick = workflow({ name: "quick" }, async () => "done");
`;

/** For time that a test moves faster than a thread can answer. */
const PATIENT = { drain_timeout: 60, stuck_after: 100_000 };

/** The tasks whose outcome is in the log. */
function outcomes(server: FakeServer, id: string): string[] {
  const completed = server.log(id).filter(({ type }) => type === "TASK_COMPLETED");
  return completed.filter(({ kind }) => kind === null).map(({ source_id }) => source_id);
}

test("WRK-12 a stopping worker lets its work finish, and what comes goes back as draining", async () => {
  const server = new FakeServer();
  using gate = createGate("drain");
  await using worker = await startTestWorker(server);
  const hash = server.addModule(GATED);
  const id = server.start("gated", hash, { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  const stopped = worker.stop();
  await server.until(() => server.heartbeats.some(({ slots_free }) => slots_free === 0));
  server.dispatching = true;
  const late = server.start("quick", hash);
  server.dispatching = false;
  await server.until(() => server.releases.length > 0);
  gate.open();
  await stopped;

  expect(server.releases).toEqual([{ execution_id: late, generation: 1, reason: "draining" }]);
  expect(server.row(id)).toMatchObject({ state: "COMPLETED", output: "waited" });
  expect(server.isConnected).toBe(false);
});

test("WRK-12 what still runs after the drain time is given back", async () => {
  const server = new FakeServer();
  using gate = createGate("drain-timeout");
  await using worker = await startTestWorker(server, { drain_timeout: 0 });
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  server.dispatching = false;
  await worker.stop();

  expect(server.releases).toEqual([{ execution_id: id, generation: 1, reason: "draining" }]);
  expect(server.row(id)).toMatchObject({ state: "CREATED", session: null });
});

test("WRK-12 in the second half of the drain time an execution goes at its next outcome, before a task starts", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  const { values, asked, answer, keys } = slowConfigs();
  await using worker = await startTestWorker(server, PATIENT, { time, values });
  const id = server.start("steps", server.addModule(GATED));
  await asked("first");
  server.dispatching = false;
  const stopped = worker.stop();
  await time.advance(29_000);
  answer("first");
  await asked("second");
  expect(server.releases, "in the first half tasks still start").toEqual([]);

  await time.advance(2_000);
  answer("second");
  await stopped;
  expect(server.releases).toEqual([{ execution_id: id, generation: 1, reason: "draining" }]);
  expect(outcomes(server, id)).toEqual(["ask~1", "ask~2"]);
  expect(keys()).toEqual(["first", "second"]);
  expect(server.row(id)).toMatchObject({ state: "CREATED", session: null });
  expect(server.isConnected).toBe(false);
});

test("WRK-12 an execution that goes early has recorded what still ran beside it", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  const { values, asked, answer, keys } = slowConfigs();
  await using worker = await startTestWorker(server, PATIENT, { time, values });
  const id = server.start("beside", server.addModule(GATED));
  await asked("long");
  await asked("short");
  server.dispatching = false;
  const stopped = worker.stop();
  await time.advance(31_000);
  answer("short");
  await server.until(() => outcomes(server, id).length === 1);
  answer("long");
  await stopped;

  expect(outcomes(server, id)).toHaveLength(2);
  expect(keys().toSorted()).toEqual(["long", "short"]);
  expect(server.releases).toEqual([{ execution_id: id, generation: 1, reason: "draining" }]);
});

test("WRK-12 an execution whose last task ends late in the drain time completes", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  using gate = createGate("drain-last-task");
  await using worker = await startTestWorker(server, PATIENT, { time });
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  const stopped = worker.stop();
  await time.advance(31_000);
  gate.open();
  await stopped;

  expect(server.row(id)).toMatchObject({ state: "COMPLETED", output: "waited" });
  expect(server.releases).toEqual([]);
});

test("WRK-12 an operator's drain ends the worker by itself, without an error", async () => {
  const server = new FakeServer();
  using gate = createGate("drained-by-operator");
  await using worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  server.send({ event: "control", data: { command: "drain" } });
  await server.until(() => server.heartbeats.at(-1)?.status === "draining");
  expect(server.heartbeats.at(-1)).toMatchObject({ slots_free: 0 });
  gate.open();
  await worker.stopped;

  expect(server.row(id)).toMatchObject({ state: "COMPLETED" });
  expect(server.isConnected).toBe(false);
  expect(worker.exits).toEqual([]);
});

test("WRK-12 a drain with timeout 0 gives everything back at once, also when one is under way", async () => {
  const server = new FakeServer();
  using gate = createGate("drain-at-once");
  await using worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  server.dispatching = false;
  server.send({ event: "control", data: { command: "drain", timeout_seconds: 600 } });
  await server.until(() => server.heartbeats.at(-1)?.status === "draining");
  server.send({ event: "control", data: { command: "drain", timeout_seconds: 0 } });
  await worker.stopped;

  expect(server.releases).toEqual([{ execution_id: id, generation: 1, reason: "draining" }]);
});

test("WRK-13 a second, hurried stop is over in 2 s even when the server answers nothing any more", async () => {
  const server = new FakeServer();
  const time = new ManualTime();
  using gate = createGate("hurried-and-alone");
  await using worker = await startTestWorker(server, PATIENT, { time });
  server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  const draining = worker.stop();
  server.before = () => new Promise(() => {});
  const stopped = worker.stop({ abort: true });
  await time.advance(2_000);
  await stopped;
  await draining;
  expect(worker.status()).toMatchObject({ running: 0 });
});

test("WRK-13 a second, hurried stop does not wait for running work", async () => {
  const server = new FakeServer();
  using gate = createGate("hurried");
  await using worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  server.dispatching = false;
  const draining = worker.stop();
  await worker.stop({ abort: true });
  await draining;

  expect(server.releases).toMatchObject([{ execution_id: id, reason: "draining" }]);
});

test("a worker that never reached its server can be stopped", async () => {
  const server = new FakeServer();
  server.before = () => {
    throw new Error("connect ECONNREFUSED");
  };
  await using worker = await startTestWorker(server);
  await worker.stop();
  await worker.stopped;
  expect(worker.exits).toEqual([]);
});
