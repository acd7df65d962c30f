import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { AT_GATE, createGate } from "../testing/gate.ts";
import { startTestWorker } from "../testing/test-worker.ts";

const REPORTING = `
import { pause, progress, task, workflow } from "@engine/sdk";
${AT_GATE}
const count = task({ name: "count" }, async (n) => { for (let i = 1; i <= n; i++) progress(i); });
export const counting = workflow({ name: "counting" }, async (n) => { await count(n); });
export const pausing = workflow({ name: "pausing" }, async (n) => { await count(n); await pause("p"); });
const failing = task({ name: "failing" }, async (n) => {
  for (let i = 1; i <= n; i++) progress(i);
  throw new Error("no");
});
export const ailing = workflow({ name: "ailing" }, async (n) => { await failing(n); });
const undone = task({ name: "undone", rollback: () => {} }, async (name, { signal }) => {
  for (let i = 1; i <= 250; i++) progress(i);
  await Promise.race([atGate(name), new Promise((_, no) => signal.addEventListener("abort", no))]);
});
export const undoing = workflow({ name: "undoing" }, async (name) => { await undone(name); });
const twice = task({ name: "twice" }, async (name) => {
  progress("before");
  await atGate(name);
  progress("after");
});
export const watching = workflow({ name: "watching" }, async (name) => { await twice(name); });
const large = task({ name: "large" }, async () => {
  progress("x".repeat(70_000));
  progress("y".repeat(70_000));
  progress("ü".repeat(40_000));
  progress(() => "no stored form");
  progress("small");
  progress("🙂".repeat(16_000));
});
export const oversized = workflow({ name: "oversized" }, async () => { await large(); });
`;

/** A server that takes values slower than checkpoints: nothing but waiting brings them in order. */
function slowToTakeValues(): FakeServer {
  const server = new FakeServer();
  server.before = async (call) => {
    if (call === "progress") await new Promise((resolve) => setTimeout(resolve, 30));
  };
  return server;
}

const FROM_1_TO_250 = Array.from({ length: 250 }, (_, i) => i + 1);

test.each([
  ["counting", "COMPLETED", "count"],
  ["ailing", "FAILED", "failing"],
  ["pausing", "PAUSED", "count"],
] as const)(
  "PRG-5 viewers have every value of %s before the frame that tells that it is %s",
  async (workflow, state, name) => {
    const server = slowToTakeValues();
    await using _worker = await startTestWorker(server);
    const hash = server.addModule(REPORTING);
    const id = server.start(workflow, hash, { input: 250, watched: true });
    await server.until(() => server.row(id).state === state);

    // That checkpoint is the last of all that came.
    expect(server.seen.at(-1)).toBe(state);
    expect(server.progressItems.map((item) => item.value)).toEqual(FROM_1_TO_250);
    expect(server.progressItems[0]).toMatchObject({ source_id: `${name}~1`, name });
  },
);

test("PRG-5 viewers have every value from before a cancel before the frame that tells that it is over", async () => {
  const server = slowToTakeValues();
  using gate = createGate("progress-before-a-cancel");
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(REPORTING);
  const id = server.start("undoing", hash, { input: gate.name, watched: true });
  await gate.arrived();
  server.cancel(id);
  await server.until(() => server.row(id).state === "CANCELLED");

  expect(server.seen.at(-1)).toBe("CANCELLED");
  expect(server.progressItems.map((item) => item.value)).toEqual(FROM_1_TO_250);
});

test("PRG-2 nothing is sent while nobody watches, and everything from joining on", async () => {
  const server = new FakeServer();
  using gate = createGate("joining");
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(REPORTING);
  const id = server.start("watching", hash, { input: gate.name });
  await gate.arrived();
  server.listen(id, true);
  // The thread has heard of it once it has done what it was given after that.
  await server.finished(server.start("counting", hash, { input: 0 }));
  gate.open();
  await server.finished(id);

  expect(server.progressItems.map((item) => item.value)).toEqual(["after"]);
});

test("PRG-3 values that cannot be sent are dropped with one line of log, others still come", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const id = server.start("oversized", server.addModule(REPORTING), { watched: true });
  await server.finished(id);

  expect(server.progressItems.map((item) => item.value)).toEqual(["small", "🙂".repeat(16_000)]);
  expect(worker.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
});

test("PRG-4 values that could not be sent are lost and the execution goes on", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  server.before = (call) => {
    if (call === "progress") throw new Error("connection reset");
  };
  const id = server.start("counting", server.addModule(REPORTING), { input: 3, watched: true });

  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED" });
  expect(server.progressItems).toEqual([]);
});
