import { expect, test } from "vitest";
import { parseDuration } from "./duration.ts";

test("EXE-3 a duration is milliseconds, or a number with a unit", () => {
  const good: [unknown, number][] = [
    [0, 0],
    [-0, 0],
    [1500, 1500],
    [0.5, 0.5],
    ["250ms", 250],
    ["1.5s", 1500],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["2d", 172_800_000],
    ["0s", 0],
  ];
  for (const [value, ms] of good) expect(parseDuration(value), String(value)).toBe(ms);
});

test("EXE-3 anything else is none", () => {
  const bad = [-1, Number.NaN, Number.POSITIVE_INFINITY, "", "5", "s", "-1s", "1 s", "1S", "1.s"];
  for (const value of [...bad, "1w", "1e3ms", "1s2m", `${"9".repeat(400)}d`, null, true, 5n, {}]) {
    expect(parseDuration(value), String(value)).toBeUndefined();
  }
});
