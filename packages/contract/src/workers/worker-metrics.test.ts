import { expect, test } from "vitest";
import { Heartbeat } from "./worker.ts";
import { BUILTIN_METRICS, METRIC_PREFIX, readCustomMetrics } from "./worker-metrics.ts";

const beat = (metrics: unknown) => Heartbeat.safeParse({ running: [], slots_free: 1, metrics });
const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, i]));

test("WMD-4 WMD-5 a heartbeat brings at most 64 metrics of keys up to 128 characters", () => {
  expect(beat(numbered(64)).success).toBe(true);
  expect(beat(numbered(65)).error?.issues[0]?.message).toBe("at most 64 metrics");
  expect(beat({ ["k".repeat(128)]: 1 }).success).toBe(true);
  expect(beat({ ["k".repeat(129)]: 1 }).success).toBe(false);
  expect(beat({ "": 1 }).success).toBe(false);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, null, "1", true])(
  "WMD-5 a heartbeat with the metric %s is refused",
  (value) => {
    expect(beat({ queue: value }).success).toBe(false);
  },
);

test("WMD-4 the engine's own metrics and all that a provider may give fit into a heartbeat", () => {
  const own = Object.keys(BUILTIN_METRICS);
  expect(own).toHaveLength(15);
  expect(own.every((name) => name.startsWith(METRIC_PREFIX))).toBe(true);
  const all = { ...Object.fromEntries(own.map((name) => [name, 0])), ...numbered(32) };
  expect(beat(all).success).toBe(true);
});

test("WMD-5 of a provider's record count 32 keys that are keys of labels, up to 64 characters", () => {
  const longest = "k".repeat(64);
  const { metrics, dropped, failed } = readCustomMetrics([
    ["engine.slots_free", 1],
    ["queue.depth", 2],
    [longest, 3],
    [`${longest}k`, 4],
    ["-cold", 5],
    ["", 6],
    ["__proto__", 7],
  ]);
  expect([...metrics]).toEqual([
    ["queue.depth", 2],
    [longest, 3],
  ]);
  expect(failed).toEqual([]);
  expect(dropped.map(({ key }) => key)).toEqual([
    "engine.slots_free",
    `${longest}k`,
    "-cold",
    "",
    "__proto__",
  ]);
  expect(dropped[0]?.why).toContain("belong to the engine");

  const many = readCustomMetrics(Object.entries(numbered(34)));
  expect([...many.metrics.keys()].at(-1)).toBe("m31");
  expect(many.dropped.map(({ key }) => key)).toEqual(["m32", "m33"]);
});

test("WMD-5 a key without a finite number is told with what it has, and takes no other key's place", () => {
  const { metrics, failed, dropped } = readCustomMetrics([
    ["a", Number.NaN],
    ["b", "12"],
    ["c", null],
    ["d", 0],
  ]);
  expect([...metrics]).toEqual([["d", 0]]);
  expect(dropped).toEqual([]);
  expect(failed.map(({ key, why }) => `${key}: ${why}`)).toEqual([
    "a: expected a finite number; got NaN",
    "b: expected a finite number; got string",
    "c: expected a finite number; got null",
  ]);
});
