import { expect, test } from "vitest";
import { mean, meanError, median, percentile, slope } from "./stats.ts";

test("BEN-1 a percentile is the nearest rank: always one of the samples", () => {
  const samples = [40, 10, 30, 20];
  expect([0, 25, 26, 50, 75, 76, 99, 100].map((p) => percentile(samples, p))).toEqual([
    10, 10, 20, 20, 30, 40, 40, 40,
  ]);
  expect(samples).toEqual([40, 10, 30, 20]);
});

test("the median of an odd number of samples is the middle one", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(mean([9, 1, 5])).toBe(5);
});

test("a mean is the surer the more samples there are and the less they differ", () => {
  expect(meanError([1, 3])).toBeCloseTo(1 / Math.SQRT2);
  expect(meanError([1, 3, 1, 3, 1, 3, 1, 3])).toBeCloseTo(1 / Math.sqrt(8));
  expect(meanError([2, 2])).toBe(0);
});

test("figures of no samples are an error, not a number", () => {
  expect(() => percentile([], 50)).toThrow(/at least one sample/);
});

test("a fitted line gives the slope of points that lie on one, and averages those that do not", () => {
  const onOne = [1, 4, 9].map((x) => [x, 7 + 0.25 * x] as const);
  expect(slope(onOne)).toBeCloseTo(0.25);
  const steps: [number, number][] = [
    [0, 0],
    [1, 3],
    [2, 2],
  ];
  expect(slope(steps)).toBeCloseTo(1);
  expect(() => slope([[2, 1]])).toThrow(/two places/);
});
