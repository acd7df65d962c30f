import { expect, test } from "vitest";
import type { Runner } from "./runner.ts";
import { SingleRunners } from "./single-runners.ts";

interface FakeProcess extends Runner {
  readonly memoryMb: number;
  isClosed: boolean;
  ready(): void;
  die(): void;
}

/** Runners of processes that are none, and timers that fire when told to. */
function createRunners(spares: number) {
  const started: FakeProcess[] = [];
  const timers: (() => void)[] = [];
  const create = (memoryMb: number) => {
    const runner: FakeProcess = {
      memoryMb,
      isShared: false,
      load: 0,
      isReady: false,
      loaded: new Set(),
      entered: 0,
      culprit: 0,
      isClosed: false,
      post: () => {},
      close() {
        runner.isClosed = true;
        return Promise.resolve();
      },
      ready() {
        runner.isReady = true;
        runners.ready();
      },
      die: () => runners.died(runner),
    };
    started.push(runner);
    return runner;
  };
  const runners = new SingleRunners({
    memoryMb: 512,
    spares,
    random: () => 0.5,
    setTimer(run) {
      timers.push(run);
      return () => {};
    },
    create,
  });
  const fire = () => {
    for (const run of timers.splice(0)) run();
  };
  return { runners, started, fire };
}

test("RUN-1 a spare takes the next execution, and another one is started behind it", () => {
  const { runners, started, fire } = createRunners(1);
  expect(started).toHaveLength(1);
  expect(runners.pick()).toBe(started[0]);
  expect(started, "not while the execution begins").toHaveLength(1);
  fire();
  expect(started).toHaveLength(2);
  expect(runners.pick()).toBe(started[1]);
});

test("RUN-1 without spares each execution starts its own process", () => {
  const { runners, started, fire } = createRunners(0);
  expect(runners.pick()).not.toBe(runners.pick());
  fire();
  expect(started).toHaveLength(2);
});

test("RUN-2 the lower limit of memory applies: a workflow that may have less gets a process of its own", () => {
  const { runners, started } = createRunners(1);
  expect(runners.pick(64)).toMatchObject({ memoryMb: 64 });
  expect(started).toHaveLength(2);
  expect(runners.pick(4096)).toBe(started[0]);
  expect(started[0]?.memoryMb).toBe(512);
});

test("RUN-2 a spare that dies is replaced", () => {
  const { started } = createRunners(1);
  started[0]?.ready();
  started[0]?.die();
  expect(started).toHaveLength(2);
});

test("processes that do not even come up are not started again and again", () => {
  const { runners, started, fire } = createRunners(0);
  runners.pick();
  started[0]?.die();
  expect(runners.pick()).toBeUndefined();
  fire();
  expect(started, "the one that shows whether it is over").toHaveLength(2);
  expect(runners.pick()).toBe(started[1]);
});

test("RUN-1 every process is ended with the pool, spares and those that run", async () => {
  const { runners, started, fire } = createRunners(1);
  runners.pick();
  fire();
  await runners.close();
  expect(started.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});
