import { expect, test } from "vitest";
import { assertNotFoughtOver } from "./taken-name.ts";

const NOW = 1_000_000;
const takeovers = (...secondsAgo: number[]) =>
  secondsAgo.map((seconds) => ({ ended_at: NOW - seconds * 1000 }));

test.each([
  ["never", []],
  ["twice", [0, 1]],
  ["three times, but over more than a minute", [0, 1, 61]],
  ["three times, but the last a minute ago", [60, 61, 62]],
])("WRK-4 a name that was taken over %s is free", (_, seconds) => {
  expect(() => assertNotFoughtOver("w1", takeovers(...seconds), NOW)).not.toThrow();
});

test.each([
  [[0, 1, 2], 60],
  [[0, 30, 60], 60],
  [[59.5, 70, 80], 1],
])("WRK-4 a name that was taken over %j seconds ago is refused for %d s", (seconds, wait) => {
  expect(() => assertNotFoughtOver("w1", takeovers(...seconds), NOW)).toThrow(
    expect.objectContaining({
      code: "worker_name_in_use",
      message: expect.stringContaining(`try again in ${wait} s`),
      details: { worker: "w1", retry_after_seconds: wait },
    }),
  );
});
