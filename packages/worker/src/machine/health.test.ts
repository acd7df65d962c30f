import { expect, test } from "vitest";
import { Health, startLoopLag } from "./health.ts";

function createHealth() {
  let probe = () => {};
  let lagMs = 0;
  const changes: boolean[] = [];
  const health = new Health({
    setTimer(run) {
      probe = run;
      return () => {
        probe = () => {};
      };
    },
    thresholdMs: 1000,
    lag: { take: () => lagMs, close: () => {} },
    onChange: (healthy) => changes.push(healthy),
  });
  const probes = (...lags: number[]) => {
    for (const lag of lags) {
      lagMs = lag;
      probe();
    }
  };
  return { health, changes, probes };
}

test("RUN-5 three late probes in a row make a worker unhealthy, three clean ones undo it", () => {
  const { health, changes, probes } = createHealth();
  probes(1000, 5000);
  expect(health.healthy).toBe(true);
  probes(1000);
  expect([health.healthy, changes]).toEqual([false, [false]]);
  probes(999, 0);
  expect(health.healthy).toBe(false);
  probes(0);
  expect([health.healthy, changes]).toEqual([true, [false, true]]);
});

test("RUN-5 a clean probe in between starts the count anew, either way", () => {
  const { health, changes, probes } = createHealth();
  probes(1000, 1000, 10, 1000, 1000);
  expect(health.healthy).toBe(true);
  probes(1000);
  expect(health.healthy).toBe(false);
  probes(10, 10, 1000, 10, 10);
  expect(health.healthy).toBe(false);
  expect(changes).toEqual([false]);
});

test("RUN-5 one long pause, such as a stopped process makes, is no ill health", () => {
  const { health, probes } = createHealth();
  probes(60_000, 5, 5);
  expect(health.healthy).toBe(true);
});

test("a health that is disposed probes no more", () => {
  const { health, changes, probes } = createHealth();
  health[Symbol.dispose]();
  probes(2000, 2000, 2000);
  expect(changes).toEqual([]);
});

test("RUN-5 the lag of a loop is how long it kept its timers, and is told once", () => {
  let time = 0;
  let sample = () => {};
  const lag = startLoopLag({
    monotonic: () => time,
    setTimer(run) {
      sample = run;
      return () => {};
    },
  });
  const pass = (ms: number) => {
    time += ms;
    sample();
  };
  pass(100);
  expect(lag.take()).toBe(0);
  pass(1600);
  pass(110);
  expect([lag.take(), lag.take()]).toEqual([1500, 0]);
  // Asked before the timer that is late has had its turn.
  time += 2100;
  expect(lag.take()).toBe(2000);
  pass(5);
  expect(lag.take()).toBe(5);
});
