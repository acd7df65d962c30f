import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUILTIN_METRICS, Heartbeat } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker } from "../testing/test-worker.ts";

function providerOf(code: string): string {
  const folder = mkdtempSync(join(tmpdir(), "engine-metrics-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "metrics.ts");
  writeFileSync(path, code);
  return `${path}#collect`;
}

/** A server that hears of its workers each second, and lets them hear of it. */
function attentive(): FakeServer {
  const server = new FakeServer();
  server.heartbeatSeconds = 1;
  server.before = (call) => {
    if (call === "heartbeat") server.send({ event: "ping", data: {} });
  };
  return server;
}

const GREET = `
import { task, workflow } from "@engine/sdk";
const greet = task({ name: "greet" }, async (name) => {
  if (name === "nobody") throw new Error("whom?");
  return "Hello, " + name;
});
export const hello = workflow({ name: "hello" }, async (name) => greet(name));
`;

test("WMD-4 a worker that has run something tells all of its figures with its heartbeats", async () => {
  const server = attentive();
  await using _worker = await startTestWorker(server, { slots: 4 });
  const hash = server.addModule(GREET);
  await server.finished(server.start("hello", hash, { input: "Ada" }));
  await server.finished(server.start("hello", hash, { input: "nobody" }));
  // Lag and the share of processors are known after a second.
  const all = Object.keys(BUILTIN_METRICS).sort();
  await server.until(() => told(server).length === all.length);
  // The server knows of an end before the worker hears that it does.
  await server.until(() => server.heartbeats.at(-1)?.metrics["engine.running_executions"] === 0);

  expect(told(server)).toEqual(all);
  const metrics = server.heartbeats.at(-1)?.metrics ?? {};
  expect(metrics).toMatchObject({
    "engine.running_executions": 0,
    "engine.slots_free": 4,
    "engine.failure_rate": 0.5,
    "engine.crash_rate": 0,
    "engine.executions_per_minute": 2,
    "engine.warm_modules": 1,
    "engine.warm_executions": 0,
  });
  const percent = metrics["engine.cpu_percent"] ?? -1;
  expect(percent >= 0 && percent <= 100).toBe(true);
  for (const heartbeat of server.heartbeats) {
    expect(Heartbeat.safeParse(heartbeat).success).toBe(true);
  }
});

function told(server: FakeServer): string[] {
  return Object.keys(server.heartbeats.at(-1)?.metrics ?? {}).sort();
}

test("WMD-4 an execution that ends its runner counts as a crash", async () => {
  const server = attentive();
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(`
import { task, workflow } from "@engine/sdk";
const end = task({ name: "end" }, async () => process.exit(1));
export const ending = workflow({ name: "ending" }, async () => end());
`);
  server.start("ending", hash);
  await server.until(() => server.releases.length > 0);
  server.dispatching = false;
  await server.until(() => server.heartbeats.at(-1)?.metrics["engine.crash_rate"] === 1);
});

test("WMD-4 with builtin_metrics = false no figure of the engine is told", async () => {
  const server = attentive();
  await using _worker = await startTestWorker(server, { builtin_metrics: false });
  await server.finished(server.start("hello", server.addModule(GREET), { input: "Ada" }));
  await server.until(() => server.heartbeats.length > 1);
  expect(server.heartbeats.at(-1)?.metrics).toEqual({});
});

test("WMD-4 a worker with unlimited slots does not say how many are free", async () => {
  const server = attentive();
  await using _worker = await startTestWorker(server, { slots: 0 });
  await server.until(() => server.heartbeats.length > 0);
  expect(told(server)).not.toContain("engine.slots_free");
});

test("WMD-5 what a provider counts comes with each heartbeat beside the engine's own figures", async () => {
  const server = attentive();
  const metrics_provider = providerOf(
    "let n: number = 0; export const collect = async () => ({ depth: ++n, 'engine.slots_free': 99 });",
  );
  const config = { metrics_provider, metrics_interval: 1, slots: 4 };
  await using worker = await startTestWorker(server, config);
  await server.until(() => server.heartbeats.at(-1)?.metrics["depth"] === 2);
  expect(server.heartbeats.at(-1)?.metrics).toMatchObject({ "engine.slots_free": 4 });
  const warned = worker.lines.filter((line) => line.startsWith("warn"));
  expect(warned).toEqual([expect.stringContaining('"engine.slots_free"')]);
});

test("WMD-5 with builtin_metrics = false a provider's metrics are told all the same", async () => {
  const server = attentive();
  const metrics_provider = providerOf("export const collect = () => ({ depth: 7 });");
  const config = { metrics_provider, builtin_metrics: false };
  await using _worker = await startTestWorker(server, config);
  await server.until(() => server.heartbeats.at(-1)?.metrics["depth"] === 7);
  expect(server.heartbeats.at(-1)?.metrics).toEqual({ depth: 7 });
});

test.each([
  ["blocks its thread", "for (;;);"],
  ["never settles", "return new Promise(() => {});"],
  ["throws", 'throw new Error("no queue");'],
])("WMD-5 a provider that %s keeps no heartbeat and no execution back", async (_, body) => {
  const server = attentive();
  const metrics_provider = providerOf(`export const collect = () => { ${body} };`);
  await using worker = await startTestWorker(server, { metrics_provider });
  const id = server.start("hello", server.addModule(GREET), { input: "Ada" });
  expect(await server.finished(id)).toMatchObject({ output: "Hello, Ada" });
  const before = server.heartbeats.length;
  await server.until(() => server.heartbeats.length > before);
  expect(told(server).every((key) => key.startsWith("engine."))).toBe(true);
  await worker.stop();
});

test.each([
  ["does not load", 'throw new Error("no database");', /no database/],
  ["lacks the export", "export const other = () => ({});", /export "collect" to be a function/],
])("WMD-5 a worker whose provider %s does not start", async (_, code, why) => {
  const server = attentive();
  const metrics_provider = providerOf(code);
  await expect(startTestWorker(server, { metrics_provider })).rejects.toThrow(why);
  expect(server.registrations).toEqual([]);
});
