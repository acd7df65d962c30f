import type { DetailedWorkerRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

/** What the server was told of a worker last. */
async function metricsOf(engine: Engine, name: string): Promise<Record<string, number>> {
  const { status, body } = await engine.http.get<DetailedWorkerRecord>(`/workers/${name}`);
  return status === 200 ? body.metrics : {};
}

/** A worker whose heartbeats come each second, with a provider that is this code. */
async function startMeasured(engine: Engine, name: string, code: string, env = {}) {
  await engine.home.write(`${name}.ts`, code);
  return engine.startWorker(name, {
    ENGINE_WORKERS__METRICS_PROVIDER: `./${name}.ts#collect`,
    ENGINE_WORKERS__METRICS_INTERVAL: "1",
    ...env,
  });
}

test("WMD-4 WMD-5 the server knows a worker's figures, and what its provider counts", async () => {
  await using engine = await startEngine({
    workers: [],
    env: { ENGINE_WORKERS__HEARTBEAT_INTERVAL: "1" },
  });
  await startMeasured(
    engine,
    "counting",
    "let depth: number = 0; export const collect = async () => ({ depth: ++depth });",
  );
  const quiet = { ENGINE_WORKERS__BUILTIN_METRICS: "false" };
  await startMeasured(engine, "quiet", "export const collect = () => ({ depth: 7 });", quiet);
  await until("the provider was called twice", async () => {
    const { depth = 0 } = await metricsOf(engine, "counting");
    return depth >= 2;
  });
  expect(await metricsOf(engine, "counting")).toMatchObject({
    "engine.running_executions": 0,
    "engine.slots_free": 64,
    "engine.loop_lag_seconds": expect.any(Number),
    "engine.cpu_percent": expect.any(Number),
  });
  await until("the quiet one is heard", async () => "depth" in (await metricsOf(engine, "quiet")));
  expect(await metricsOf(engine, "quiet")).toEqual({ depth: 7 });
});

test("WMD-5 a provider that blocks for ever harms neither work nor heartbeats; one that throws is named in the log", async () => {
  await using engine = await startEngine({
    workers: [],
    env: { ENGINE_WORKERS__HEARTBEAT_INTERVAL: "1" },
  });
  await engine.register("hello");
  const hanging = await startMeasured(
    engine,
    "hanging",
    "let calls = 0; export const collect = () => { if (calls++ > 0) for (;;); return { depth: 1 }; };",
  );
  await until(
    "its first value is told",
    async () => "depth" in (await metricsOf(engine, "hanging")),
  );
  await hanging.printed(/the metrics provider failed.*/);
  expect(await engine.untilEnded(await engine.start("hello_world", "Ada"))).toMatchObject({
    state: "COMPLETED",
  });
  // A fresh thread gives its first value again.
  await hanging.printed(/the metrics provider gives metrics again/);

  const throwing = await startMeasured(
    engine,
    "throwing",
    'export const collect = () => { throw new Error("no queue here"); };',
  );
  await throwing.printed(/no queue here/);
});

test("WMD-5 a worker whose provider cannot be used ends at once with exit code 2, and says what was expected", async () => {
  await using engine = await startEngine({ workers: [] });
  const lacking = await startMeasured(engine, "lacking", "export const other = () => ({});");
  const { code, stderr } = await lacking.result();
  expect(code).toBe(2);
  expect(stderr).toContain("engine.workers.metrics_provider");
  expect(stderr).toContain('export "collect" to be a function');
  expect((await engine.http.get("/workers/lacking")).status).toBe(404);
});
