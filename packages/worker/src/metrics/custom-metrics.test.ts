import { expect, test } from "vitest";
import { ManualTime } from "../testing/manual-time.ts";
import { CustomMetrics } from "./custom-metrics.ts";
import type { Collected } from "./provider-calls.ts";

const gave = (record: Record<string, unknown>): Collected => ({
  kind: "values",
  entries: Object.entries(record),
  beyond: 0,
});
const failed: Collected = { kind: "failed", why: "Error: no queue" };

/** Metrics whose provider answers with these, one each interval of ten seconds. */
async function metricsOf(...answers: (Collected | Promise<Collected>)[]) {
  const time = new ManualTime();
  const life = new AbortController();
  const lines: string[] = [];
  const line = (level: string) => (details: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(details)}`);
  let calls = 0;
  const metrics = new CustomMetrics({
    setTimer: time.setTimer,
    life: life.signal,
    log: { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") },
    intervalMs: 10_000,
    async collect() {
      return answers[calls++] ?? failed;
    },
  });
  await time.advance(0);
  return {
    lines,
    life,
    get calls() {
      return calls;
    },
    get values() {
      return metrics.values;
    },
    intervals: (count: number) => time.advance(count * 10_000),
  };
}

test("WMD-5 a provider is called at once, and then each interval", async () => {
  const it = await metricsOf(gave({ queue: 1 }), gave({ queue: 2, other: 3 }));
  expect(it.values).toEqual({ queue: 1 });
  await it.intervals(1);
  expect([it.values, it.calls]).toEqual([{ queue: 2, other: 3 }, 2]);
  expect(it.lines).toEqual([]);
});

test("WMD-5 a key that a provider does not give any more is gone", async () => {
  const it = await metricsOf(gave({ a: 1, b: 2 }), gave({ a: 1 }));
  await it.intervals(1);
  expect(it.values).toEqual({ a: 1 });
});

test("WMD-5 the last values stay through three failures, then they are absent; both is warned of once", async () => {
  const it = await metricsOf(gave({ queue: 1 }));
  await it.intervals(3);
  expect(it.values).toEqual({ queue: 1 });
  await it.intervals(1);
  expect(it.values).toEqual({});
  await it.intervals(5);
  expect(it.lines.map((line) => line.slice(0, 40))).toEqual([
    "warn the metrics provider failed: its la",
    "warn the metrics provider keeps failing:",
  ]);
  expect(it.lines[0]).toContain("no queue");
});

test("WMD-5 a provider that recovers is told of, and warned of when it fails anew", async () => {
  const it = await metricsOf(gave({ queue: 1 }), failed, gave({ queue: 2 }), failed);
  await it.intervals(3);
  expect(it.values).toEqual({ queue: 2 });
  expect(it.lines.map((line) => line.slice(0, 40))).toEqual([
    "warn the metrics provider failed: its la",
    "info the metrics provider gives metrics ",
    "warn the metrics provider failed: its la",
  ]);
});

test("WMD-5 a key without a finite number keeps its last value for three intervals; the others go on", async () => {
  const bad = (depth: number) => gave({ depth, broken: Number.NaN });
  const it = await metricsOf(gave({ depth: 0, broken: 7 }), bad(1), bad(2), bad(3), bad(4));
  await it.intervals(3);
  expect(it.values).toEqual({ depth: 3, broken: 7 });
  await it.intervals(1);
  expect(it.values).toEqual({ depth: 4 });
  expect(it.lines).toEqual([
    'warn a metric of the metrics provider has no usable value {"key":"broken","error":"expected a finite number; got NaN"}',
  ]);
});

test("WMD-5 what breaks a limit is dropped with one warning that names the key, and nothing else is", async () => {
  const record = { "engine.slots_free": 99, "a b": 1, depth: 1 };
  const it = await metricsOf(gave(record), gave(record), gave(record));
  await it.intervals(2);
  expect(it.values).toEqual({ depth: 1 });
  expect(it.lines).toHaveLength(2);
  expect(it.lines[0]).toContain('"engine.slots_free"');
  expect(it.lines[1]).toContain('"a b"');
});

test("WMD-5 a provider with new bad keys at each call does not fill the log", async () => {
  const bad = (call: number) =>
    gave(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`bad key ${call} ${i}`, 1])));
  const it = await metricsOf(bad(1), bad(2), bad(3));
  await it.intervals(2);
  expect(it.lines).toHaveLength(100);
  expect(it.lines.at(-1)).toContain("further keys are not named");
});

test("WMD-5 a call that takes longer than an interval is not made a second time", async () => {
  const slow = Promise.withResolvers<Collected>();
  const it = await metricsOf(slow.promise, gave({ queue: 2 }));
  await it.intervals(3);
  expect(it.calls).toBe(1);
  slow.resolve(gave({ queue: 1 }));
  await it.intervals(0);
  expect(it.values).toEqual({ queue: 1 });
  await it.intervals(1);
  expect(it.values).toEqual({ queue: 2 });
});

test("a worker that ends calls its provider no more", async () => {
  const it = await metricsOf(gave({ queue: 1 }));
  it.life.abort();
  await it.intervals(3);
  expect(it.calls).toBe(1);
});
