import { expect, test } from "vitest";
import type { Runner } from "./runner.ts";
import { StallWatch } from "./stall-watch.ts";

/** A watch whose seconds pass when told to, over runners that answer when told to. */
function createWatch() {
  let tick = () => {};
  const said: string[] = [];
  const name = new Map<Runner, string>();
  const watch: StallWatch = new StallWatch({
    setTimer(run) {
      tick = run;
      return () => {
        tick = () => {};
      };
    },
    stallWarnMs: 5000,
    stuckAfterMs: 30_000,
    onStall: (runner, ms) => said.push(`${name.get(runner)} stalled ${ms}`),
    onStuck(runner, ms) {
      said.push(`${name.get(runner)} stuck ${ms}`);
      watch.remove(runner);
    },
  });
  const add = (label: string, answers: () => boolean) => {
    const runner: Runner = {
      isShared: true,
      load: 0,
      isReady: true,
      loaded: new Set(),
      entered: 0,
      culprit: 0,
      post: () => void (answers() && watch.answered(runner)),
      close: () => Promise.resolve(),
    };
    name.set(runner, label);
    watch.add(runner);
    return runner;
  };
  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) tick();
  };
  return { watch, said, add, pass };
}

test("RUN-3 a runner that does not answer is reported after stall_warn, once, and given up after stuck_after", () => {
  const { said, add, pass } = createWatch();
  add("a", () => false);
  add("b", () => true);
  pass(5);
  expect(said).toEqual([]);
  pass(1);
  expect(said).toEqual(["a stalled 5000"]);
  pass(24);
  expect(said).toEqual(["a stalled 5000"]);
  pass(1);
  expect(said).toEqual(["a stalled 5000", "a stuck 30000"]);
  pass(60);
  expect(said).toHaveLength(2);
});

test("RUN-3 one that answers again is reported anew the next time", () => {
  const { said, watch, add, pass } = createWatch();
  const runner = add("a", () => false);
  pass(8);
  expect(watch.isSilent(runner)).toBe(true);
  watch.answered(runner);
  expect(watch.isSilent(runner)).toBe(false);
  pass(29);
  expect(said).toEqual(["a stalled 5000", "a stalled 5000"]);
});

test("RUN-3 silence is counted in ticks: a worker that did not run itself blames nobody", () => {
  const { said, add, pass } = createWatch();
  let isAnswering = true;
  add("a", () => isAnswering);
  pass(10);
  // However long the worker was stopped, its timer fires once when it goes on.
  isAnswering = false;
  pass(1);
  expect(said).toEqual([]);
});

test("a watch that is closed asks nobody any more", () => {
  const { watch, said, add, pass } = createWatch();
  add("a", () => false);
  watch.close();
  pass(60);
  expect(said).toEqual([]);
});
