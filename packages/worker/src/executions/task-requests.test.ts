import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker } from "../testing/test-worker.ts";

const BUNDLE = `
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { pause, parallel, task, workflow } from "@engine/sdk";
const alone = task({ name: "alone", requests: { cpu: 2, memory: "1MiB" } }, async (folder) => {
  mkdirSync(folder + "/lock");
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  rmdirSync(folder + "/lock");
  return "alone";
});
export const lone = workflow({ name: "lone" }, async (folder) =>
  parallel([() => alone(folder), () => alone(folder), () => alone(folder)]));
const hangs = task({ name: "hangs", requests: { gpu: 1 } }, (file) => {
  if (existsSync(file)) return "again";
  writeFileSync(file, "");
  return new Promise(() => {});
});
export const holder = workflow({ name: "holder" }, async (file) => hangs(file));
const wants = task({ name: "wants", requests: { gpu: 1 } }, async () => "had it");
export const waiter = workflow({ name: "waiter" }, async () => wants());
const once = task({ name: "once", requests: { gpu: 1 } }, async (file) => {
  if (existsSync(file)) return "again";
  writeFileSync(file, "");
  process.exit(1);
});
export const exiting = workflow({ name: "exiting" }, async (file) => once(file));
const asks = task({ name: "asks", requests: { gpu: 1 } }, async () => pause("look"));
export const asking = workflow({ name: "asking" }, async () => asks());
const huge = task({ name: "huge", requests: { cpu: 3 } }, async () => 1);
export const tooLarge = workflow({ name: "too-large" }, async () => huge());
`;
const TOGETHER = { resources: { cpu: 2, memory: "1GiB", gpu: 1 } };

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "engine-requests-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Whether a task's start is in the log, which says nothing of its function. */
function isAsked(server: FakeServer, id: string): boolean {
  return server.types(id).includes("TASK_STARTED");
}

test("RES-4 tasks that together request more than a worker has run one after another, on whatever runners", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, { ...TOGETHER, threads: 2 });
  const hash = server.addModule(BUNDLE);
  const input = freshFolder();
  const runners = ["thread", "thread", "process"] as const;
  const ids = runners.map((runner) => server.start("lone", hash, { input, runner }));

  for (const id of ids) {
    expect(await server.finished(id)).toMatchObject({
      state: "COMPLETED",
      output: ["alone", "alone", "alone"],
    });
  }
});

test("RES-4 the room of a task goes to the next one when its execution is cancelled", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, { ...TOGETHER, cancel_grace: 0.1 });
  const hash = server.addModule(BUNDLE);
  const holder = server.start("holder", hash, { input: join(freshFolder(), "file") });
  await server.until(() => isAsked(server, holder));
  const waiter = server.start("waiter", hash);
  await server.until(() => isAsked(server, waiter));
  server.cancel(holder);

  expect(await server.finished(holder)).toMatchObject({ state: "CANCELLED" });
  expect(await server.finished(waiter)).toMatchObject({ output: "had it" });
});

test("RES-4 the room of a task goes to the next one when its execution is taken from the worker", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, TOGETHER);
  const hash = server.addModule(BUNDLE);
  const holder = server.start("holder", hash, { input: join(freshFolder(), "file") });
  await server.until(() => isAsked(server, holder));
  const waiter = server.start("waiter", hash);
  await server.until(() => isAsked(server, waiter));
  server.dispatching = false;
  server.takeAway(holder);
  const { generation } = server.row(holder);
  server.send({
    event: "revoke",
    data: { execution_id: holder, generation, reason: "it is another worker's" },
  });

  expect(await server.finished(waiter)).toMatchObject({ output: "had it" });
});

test("RES-4 the room of a task that ends its runner is not lost: it runs again, and others do", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, TOGETHER);
  const hash = server.addModule(BUNDLE);
  const input = join(freshFolder(), "file");
  const exiting = server.start("exiting", hash, { input, runner: "process" });
  const waiter = server.start("waiter", hash);

  expect(await server.finished(exiting)).toMatchObject({ output: "again", generation: 2 });
  expect(await server.finished(waiter)).toMatchObject({ output: "had it" });
});

test("RES-4 a task whose execution is paused keeps no room, neither while it waits nor after", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, TOGETHER);
  const hash = server.addModule(BUNDLE);
  const asking = server.start("asking", hash);
  await server.until(() => server.row(asking).state === "PAUSED");
  expect(await server.finished(server.start("waiter", hash))).toMatchObject({ output: "had it" });
  server.resume(asking, "seen");
  expect(await server.finished(asking)).toMatchObject({ output: "seen" });
  expect(await server.finished(server.start("waiter", hash))).toMatchObject({ output: "had it" });
});

test("RES-4 a request above what the worker has fails the call and names both amounts", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, TOGETHER);
  const id = server.start("too-large", server.addModule(BUNDLE));
  expect((await server.finished(id)).failure).toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("requests 3 cpu, and this worker has 2"),
  });
});

test("RES-3 a worker's overrides are what it reports as its total and as free, from its registration on", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, {
    resources: { cpu: 2.5, memory: "4GiB", disk: "10GB", gpu: 1 },
    packages: ["in-house@1.2.3"],
  });
  await server.until(() => server.isConnected);
  const [registration] = server.registrations;
  expect(registration?.resources).toEqual({
    cpu_total: 2.5,
    cpu_available: 2.5,
    memory_total: 4 * 2 ** 30,
    memory_available: 4 * 2 ** 30,
    disk_total: 1e10,
    disk_free: 1e10,
    gpus: [{ name: "gpu", memory_total: 0 }],
  });
  expect(registration?.packages).toContainEqual({ name: "in-house", version: "1.2.3" });
  expect(registration?.packages).toContainEqual(expect.objectContaining({ name: "zod" }));
});
