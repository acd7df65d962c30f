import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { AT_GATE, createGate } from "../testing/gate.ts";
import { startTestWorker } from "../testing/test-worker.ts";

const GATED = `
import { pause, parallel, task, workflow } from "@engine/sdk";
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
export const gated = workflow({ name: "gated" }, async (name) => wait(name));
export const both = workflow({ name: "both" }, async (name) =>
  parallel([() => pause("approval"), () => wait(name)]));
export const quick = workflow({ name: "quick" }, async () => "done");
`;

function pollingServer(): FakeServer {
  const server = new FakeServer();
  server.dispatch = "poll";
  return server;
}

test("WRK-10 a worker whose server wants it to poll gets its work as answers, and no stream", async () => {
  const server = pollingServer();
  await using worker = await startTestWorker(server);
  await worker.connected;
  const id = server.start("quick", server.addModule(GATED));

  expect(await server.finished(id)).toMatchObject({ output: "done", generation: 1 });
  expect(server.connects).toEqual([]);
});

test.each(["event", "poll"] as const)(
  "WRK-10 a worker's own choice to %s wins over what the server would like",
  async (dispatch) => {
    const server = new FakeServer();
    server.dispatch = dispatch === "poll" ? "event" : "poll";
    await using worker = await startTestWorker(server, {}, { dispatch });
    await worker.connected;

    expect(server.polls.length > 0).toBe(dispatch === "poll");
    expect(server.connects.length > 0).toBe(dispatch === "event");
  },
);

test("WRK-10 each poll is a heartbeat: it says what is held, and another one only looks at the clock now and then", async () => {
  const server = pollingServer();
  server.heartbeatSeconds = 0.2;
  using gate = createGate("polls-are-heartbeats");
  await using _worker = await startTestWorker(server, { slots: 3 });
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  const waits = () => server.polls.filter((poll) => poll.wait_seconds > 0 && poll.running[0]);
  await server.until(() => waits().length > 2);
  gate.open();
  await server.finished(id);

  // The server's wait is part of the round trip of a poll, which therefore measures no clock.
  await server.until(() => server.heartbeats.length > 0);
  expect(server.heartbeats.length).toBeLessThan(server.polls.length);
  expect(server.polls[0]).toMatchObject({ wait_seconds: 0, running: [], status: "active" });
  expect(waits()[1]).toMatchObject({
    wait_seconds: 0.2,
    slots_free: 2,
    running: [{ execution_id: id, generation: 1 }],
  });
});

test("WRK-10 what the server writes reaches an execution that runs", async () => {
  const server = pollingServer();
  using gate = createGate("resumed-by-poll");
  await using _worker = await startTestWorker(server);
  const id = server.start("both", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_PAUSED"));
  server.resumeRunning(id, "Ada");
  gate.open();

  expect(await server.finished(id)).toMatchObject({ output: ["Ada", "waited"], generation: 1 });
});

test("WRK-10 a poll that fails is tried again, and what runs goes on meanwhile", async () => {
  const server = pollingServer();
  using gate = createGate("poll-fails");
  await using worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  let failures = 0;
  server.before = (call) => {
    if (call === "poll" && failures++ < 4) throw new Error("socket hang up");
  };
  server.cut();
  const polls = server.polls.length;
  await server.until(() => server.polls.length > polls);
  gate.open();

  expect(await server.finished(id)).toMatchObject({ output: "waited", generation: 1 });
  expect(failures).toBeGreaterThan(4);
  expect(worker.lines.filter((line) => line.includes("cannot be reached"))).toHaveLength(1);
});

test("WRK-10 a worker drops what a poll tells it is not its own any more", async () => {
  const server = pollingServer();
  using gate = createGate("dropped-by-poll");
  await using worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  server.dispatching = false;
  server.takeAway(id);
  server.cut();
  const polls = server.polls.length;
  await server.until(() => server.polls.length > polls + 1);
  const batches = server.batches.length;
  gate.open();
  await worker.stop();

  expect(server.batches).toHaveLength(batches);
  expect(server.releases).toEqual([]);
});

test("WRK-12 a polling worker that stops gives back what a poll still brings", async () => {
  const server = pollingServer();
  using gate = createGate("polls-while-draining");
  await using worker = await startTestWorker(server);
  const hash = server.addModule(GATED);
  const id = server.start("gated", hash, { input: gate.name });
  await gate.arrived();
  const stopped = worker.stop();
  await server.until(() => server.heartbeats.at(-1)?.status === "draining");
  const late = server.start("quick", hash);
  server.dispatching = false;
  await server.until(() => server.releases.length > 0);
  gate.open();
  await stopped;

  expect(server.releases).toEqual([{ execution_id: late, generation: 1, reason: "draining" }]);
  expect(server.row(id)).toMatchObject({ state: "COMPLETED" });
});
