import { BUILTIN_METRICS } from "@engine/contract";
import { expect, test } from "vitest";
import type { CpuTime } from "../machine/machine-load.ts";
import { BuiltinMetrics, type WorkerGauges } from "./builtin-metrics.ts";

const IDLE: WorkerGauges = {
  running: 0,
  slotsFree: 4,
  memoryAvailable: 1024,
  warmModules: 0,
  warmExecutions: 0,
};

function measured(gauges: Partial<WorkerGauges> = {}) {
  let now = 0;
  let cpu: CpuTime | undefined = { busy: 0, total: 0 };
  const metrics = new BuiltinMetrics({
    monotonic: () => now,
    load: { cpu: () => cpu, average: () => 1.5 },
  });
  return {
    metrics,
    pass(ms: number) {
      now += ms;
    },
    work(busy: number, total: number) {
      cpu = { busy: (cpu?.busy ?? 0) + busy, total: (cpu?.total ?? 0) + total };
    },
    value: (name: keyof typeof BUILTIN_METRICS) => metrics.values({ ...IDLE, ...gauges })[name],
    names: () => Object.keys(metrics.values({ ...IDLE, ...gauges })),
  };
}

/** An execution that takes so long. */
function run(it: ReturnType<typeof measured>, ms: number, state: "COMPLETED" | "FAILED") {
  const held = {};
  it.metrics.assigned(held);
  it.pass(ms);
  it.metrics.wrote(held);
  it.metrics.left(held, state);
}

test("WMD-4 before anything has happened only what has a meaning is told", () => {
  const { names } = measured();
  expect(names()).toEqual([
    "engine.running_executions",
    "engine.slots_free",
    "engine.memory_available_bytes",
    "engine.load_avg_1m",
    "engine.executions_per_minute",
    "engine.warm_modules",
    "engine.warm_executions",
  ]);
});

test("WMD-4 once everything has happened all fifteen are told, and no other", () => {
  const it = measured();
  it.metrics.probed(1);
  run(it, 2_000, "COMPLETED");
  it.work(1, 2);
  return it.metrics
    .timed(async () => 1)
    .then(() => expect(it.names().sort()).toEqual(Object.keys(BUILTIN_METRICS).sort()));
});

test("WMD-4 a worker with unlimited slots does not say how many are free", () => {
  expect(measured({ slotsFree: undefined }).names()).not.toContain("engine.slots_free");
});

test("WMD-4 rates are over the last 128 executions, and cancelled ones do not count as failed or not", () => {
  const it = measured();
  run(it, 1, "FAILED");
  expect(it.value("engine.failure_rate")).toBe(1);
  for (let i = 0; i < 3; i++) run(it, 1, "COMPLETED");
  it.metrics.left({}, "CANCELLED");
  expect(it.value("engine.failure_rate")).toBe(0.25);
  for (let i = 0; i < 128; i++) run(it, 1, "COMPLETED");
  expect(it.value("engine.failure_rate")).toBe(0);
});

test("WMD-4 the crash rate counts what was lost with its runner among all that left", () => {
  const it = measured();
  it.metrics.lost();
  it.metrics.left({}, "PAUSED");
  it.metrics.left({}, "RUNNING");
  it.metrics.left({}, "COMPLETED");
  expect(it.value("engine.crash_rate")).toBe(0.25);
  expect(it.value("engine.failure_rate")).toBe(0);
});

test("WMD-4 durations run from the assignment to the end, the startup to the first checkpoint", () => {
  const it = measured();
  for (let i = 1; i <= 20; i++) {
    const held = {};
    it.metrics.assigned(held);
    it.pass(i * 10);
    it.metrics.wrote(held);
    it.pass(i * 1_000);
    it.metrics.wrote(held);
    it.metrics.left(held, "COMPLETED");
  }
  expect(it.value("engine.startup_overhead_seconds")).toBe(0.1);
  expect(it.value("engine.execution_duration_p95_seconds")).toBeCloseTo(19.19);
});

test("WMD-4 what parks has started, and has not ended", () => {
  const it = measured();
  const held = {};
  it.metrics.assigned(held);
  it.pass(30);
  it.metrics.wrote(held);
  it.metrics.left(held, "PAUSED");
  expect(it.names()).toContain("engine.startup_overhead_seconds");
  expect(it.names()).not.toContain("engine.execution_duration_p95_seconds");
  expect(it.value("engine.executions_per_minute")).toBe(0);
});

test("WMD-4 executions per minute are those of the last minute, or the pace of the last 128", () => {
  const it = measured();
  for (let i = 0; i < 10; i++) run(it, 1_000, "COMPLETED");
  expect(it.value("engine.executions_per_minute")).toBe(10);
  it.pass(55_000);
  expect(it.value("engine.executions_per_minute")).toBe(6);
  it.pass(60_000);
  expect(it.value("engine.executions_per_minute")).toBe(0);
  for (let i = 0; i < 300; i++) run(it, 100, "COMPLETED");
  // 128 in 12.7 seconds.
  expect(it.value("engine.executions_per_minute")).toBeCloseTo(604.7, 1);
});

test("WMD-4 the newest lag and the 95th percentile of the last 128 probes are told in seconds", () => {
  const it = measured();
  for (let i = 1; i <= 1_000; i++) it.metrics.probed(i);
  expect(it.value("engine.loop_lag_seconds")).toBe(1);
  expect(it.value("engine.loop_lag_p95_seconds")).toBe(0.994);
});

test("WMD-4 only requests with an answer count as round trips", async () => {
  const it = measured();
  const lost = it.metrics.timed(async () => {
    it.pass(9_000);
    throw new Error("no answer");
  });
  await expect(lost).rejects.toThrow("no answer");
  expect(it.names()).not.toContain("engine.checkpoint_rtt_p95_seconds");
  await it.metrics.timed(async () => it.pass(40));
  expect(it.value("engine.checkpoint_rtt_p95_seconds")).toBe(0.04);
});

test("WMD-4 the share of processors is that between two looks, a second or more apart", () => {
  const it = measured();
  it.work(50, 100);
  expect(it.value("engine.cpu_percent")).toBeUndefined();
  it.pass(999);
  expect(it.value("engine.cpu_percent")).toBeUndefined();
  it.pass(1);
  expect(it.value("engine.cpu_percent")).toBe(50);
  it.pass(1_000);
  it.work(100, 100);
  expect([it.value("engine.cpu_percent"), it.value("engine.cpu_percent")]).toEqual([100, 100]);
});
