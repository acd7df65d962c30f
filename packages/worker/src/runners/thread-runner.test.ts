import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { AT_GATE, createGate } from "../testing/gate.ts";
import { startTestWorker } from "../testing/test-worker.ts";
import { until } from "../testing/until.ts";

/** `isFirst(file)`: whether nobody has asked for this file before. */
const IS_FIRST = `
import { writeFileSync } from "node:fs";
function isFirst(file) {
  try { writeFileSync(file, "", { flag: "wx" }); return true; } catch { return false; }
}
`;

const MODULE = `
import { task, workflow } from "@engine/sdk";
${IS_FIRST}
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
const spin = task({ name: "spin" }, async (file) => { while (isFirst(file)) for (;;); return "again"; });
const fill = task({ name: "fill" }, async (file) => {
  const all = [];
  while (isFirst(file)) for (;;) all.push({ size: all.length, list: [1, 2, 3] });
  return "again";
});
export const waits = workflow({ name: "waits" }, async (name) => wait(name));
export const spins = workflow({ name: "spins" }, async (file) => spin(file));
export const fills = workflow({ name: "fills" }, async (file) => fill(file));
export const quick = workflow({ name: "quick" }, async () => "done");
`;

function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "engine-thread-runner-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "asked");
}

test("RUN-2 a thread that needs too much memory loses what ran on it; other threads go on", async () => {
  const server = new FakeServer();
  using gate = createGate("other-thread-than-the-full-one");
  await using worker = await startTestWorker(server, { threads: 2, thread_memory_mb: 48 });
  const hash = server.addModule(MODULE);
  const other = server.start("waits", hash, { input: gate.name });
  await gate.arrived();
  const id = server.start("fills", hash, { input: freshFile() });
  expect(await server.finished(id)).toMatchObject({ output: "again", generation: 2 });

  expect(server.releases).toEqual([{ execution_id: id, generation: 1, reason: "runner_lost" }]);
  expect(worker.lines.join("\n")).toContain("more memory than thread_memory_mb, 48");
  gate.open();
  expect(await server.finished(other)).toMatchObject({ output: "waited", generation: 1 });
}, 60_000);

test("RUN-3 code that blocks its thread is named, then loses the thread; what ran beside it is not to blame", async () => {
  const server = new FakeServer();
  server.heartbeatSeconds = 0.5;
  using beside = createGate("beside-the-one-that-blocks");
  using away = createGate("away-from-the-one-that-blocks");
  await using worker = await startTestWorker(server, {
    threads: 2,
    stall_warn: 1,
    stuck_after: 3,
  });
  const hash = server.addModule(MODULE);
  const neighbour = server.start("waits", hash, { input: beside.name });
  await beside.arrived();
  const elsewhere = server.start("waits", hash, { input: away.name });
  await away.arrived();
  const file = freshFile();
  const id = server.start("spins", hash, { input: file });
  await until(() => existsSync(file));

  const beats = server.heartbeats.length;
  await server.until(() => server.heartbeats.length > beats);
  expect(await server.finished(server.start("quick", hash))).toMatchObject({ generation: 1 });
  away.open();
  expect(await server.finished(elsewhere)).toMatchObject({ output: "waited", generation: 1 });
  expect(server.releases, "the thread has not been given up yet").toEqual([]);

  await server.until(() => server.releases.length === 2);
  expect(server.releases).toEqual(
    expect.arrayContaining([
      { execution_id: id, generation: 1, reason: "stuck" },
      { execution_id: neighbour, generation: 1, reason: "neighbour" },
    ]),
  );
  await beside.arrived();
  beside.open();
  expect(await server.finished(id)).toMatchObject({ output: "again", generation: 2 });
  expect(await server.finished(neighbour)).toMatchObject({ output: "waited", generation: 2 });
  const named = worker.lines.filter((line) => line.includes("does not let"));
  expect(named).toHaveLength(2);
  for (const line of named) expect(line).toContain(`"execution_id":"${id}"`);
}, 60_000);

test("RUN-3 a process that blocks is ended, and its execution runs again", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, { stall_warn: 1, stuck_after: 2 });
  const hash = server.addModule(`
import { workflow } from "@engine/sdk";
${IS_FIRST}
export const spins = workflow({ name: "spins" }, async (file) => { while (isFirst(file)) for (;;); return "again"; });
`);
  const id = server.start("spins", hash, { input: freshFile(), runner: "process" });
  expect(await server.finished(id)).toMatchObject({ output: "again", generation: 2 });
  expect(server.releases).toEqual([{ execution_id: id, generation: 1, reason: "stuck" }]);
}, 60_000);

test("RUN-3 a bundle that blocks as it loads is what its execution is released for", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, { stall_warn: 1, stuck_after: 2 });
  const file = freshFile();
  const hash = server.addModule(`
import { workflow } from "@engine/sdk";
${IS_FIRST}
while (isFirst(${JSON.stringify(file)})) for (;;);
export const late = workflow({ name: "late" }, async () => "loaded");
`);
  const id = server.start("late", hash);
  expect(await server.finished(id)).toMatchObject({ output: "loaded", generation: 2 });
  expect(server.releases).toEqual([{ execution_id: id, generation: 1, reason: "stuck" }]);
}, 60_000);
