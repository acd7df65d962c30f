import { expect, test } from "vitest";
import { FakeServer } from "./testing/fake-server.ts";
import { AT_GATE, createGate } from "./testing/gate.ts";
import { startTestWorker } from "./testing/test-worker.ts";

const REPORTING = `
import { progress, task, workflow } from "@engine/sdk";
${AT_GATE}
const count = task({ name: "count" }, async (n) => { for (let i = 1; i <= n; i++) progress(i); });
export const counting = workflow({ name: "counting" }, async (n) => { await count(n); });
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

test("PRG-5 viewers have every value before the execution ends", async () => {
  const server = new FakeServer();
  // Slower than checkpoints, so that nothing but waiting brings them in order.
  server.before = async (call) => {
    if (call === "progress") await new Promise((resolve) => setTimeout(resolve, 30));
  };
  await using _worker = await startTestWorker(server);
  const id = server.start("counting", server.addModule(REPORTING), { input: 250, watched: true });
  await server.finished(id);

  expect(server.progressItems.map((item) => item.value)).toEqual(
    Array.from({ length: 250 }, (_, i) => i + 1),
  );
  expect(server.progressItems[0]).toMatchObject({ source_id: "count~1", name: "count" });
  expect(server.seen.at(-1)).toBe("COMPLETED");
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
