import { expect, test } from "vitest";
import { FakeServer } from "./testing/fake-server.ts";
import { AT_GATE, createGate } from "./testing/gate.ts";
import { startTestWorker } from "./testing/test-worker.ts";

const GATED = `
import { task, workflow } from "@engine/sdk";
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
export const gated = workflow({ name: "gated" }, async (name) => wait(name));
export const quick = workflow({ name: "quick" }, async () => "done");
`;

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
