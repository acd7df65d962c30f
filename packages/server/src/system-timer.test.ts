import { expect, test, vi } from "vitest";
import { systemTimer } from "./system-timer.ts";

test("a timer never comes before its time, though those of Node do", async () => {
  const early: number[] = [];
  for (let round = 0; round < 20; round++) {
    const times = Array.from({ length: 20 }, (_, i) => 3 + i / 7);
    await Promise.all(
      times.map((ms) => {
        const began = performance.now();
        return new Promise<void>((resolve) => {
          systemTimer(() => {
            const took = performance.now() - began;
            if (took < ms) early.push(ms - took);
            resolve();
          }, ms);
        });
      }),
    );
  }
  expect(early).toEqual([]);
});

test("a wait that is longer than any timer of Node ends in time, and one that is called off never", () => {
  vi.useFakeTimers();
  try {
    const month = 31 * 24 * 3_600_000;
    const ended: string[] = [];
    systemTimer(() => ended.push("waited"), month);
    const callOff = systemTimer(() => ended.push("called off"), month);
    vi.advanceTimersByTime(month - 1);
    expect(ended).toEqual([]);
    callOff();
    vi.advanceTimersByTime(1);
    expect(ended).toEqual(["waited"]);
  } finally {
    vi.useRealTimers();
  }
});
