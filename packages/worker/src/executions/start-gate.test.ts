import { expect, test } from "vitest";
import type { ToRunner } from "../runners/messages.ts";
import type { Runner } from "../runners/runner.ts";
import { StartGate } from "./start-gate.ts";

/** A runner that remembers what it was told: `true` to hold, `false` to go on. */
function createRunner() {
  const told: boolean[] = [];
  const post = (messages: readonly ToRunner[]) => {
    for (const message of messages) if (message.kind === "hold") told.push(message.on);
  };
  const runner: Runner = {
    isShared: true,
    load: 1,
    isReady: true,
    entered: 0,
    culprit: 0,
    loaded: new Set(),
    post,
    close: async () => {},
  };
  return { runner, told };
}

test("WRK-8 runners hold while the server is not heard, and go on with it", () => {
  const { runner, told } = createRunner();
  const idle = createRunner();
  const gate = new StartGate(() => [runner]);
  gate.setHeard(true);
  expect(told).toEqual([]);
  gate.setHeard(false);
  gate.setHeard(false);
  gate.setHeard(true);
  expect(told).toEqual([true, false]);
  expect(idle.told).toEqual([]);
});

test("WRK-8 a runner that has nothing left to do when the server is back goes on, too", () => {
  const { runner, told } = createRunner();
  const busy = [runner];
  const gate = new StartGate(() => busy);
  gate.setHeard(true);
  gate.setHeard(false);
  busy.pop();
  gate.setHeard(true);
  expect(told).toEqual([true, false]);
});

test("WRK-12 a worker that leaves holds for good, and is told again of what has stalled", () => {
  const { runner, told } = createRunner();
  const gate = new StartGate(() => [runner]);
  gate.setHeard(true);
  gate.setHeard(false);
  gate.leave();
  gate.setHeard(true);
  gate.setHeard(false);
  expect(told).toEqual([true, true]);
  expect(gate.isLeaving).toBe(true);
});

test("WRK-8 a runner that has ended is told nothing any more", () => {
  const { runner, told } = createRunner();
  const gate = new StartGate(() => [runner]);
  gate.setHeard(true);
  gate.setHeard(false);
  gate.forget(runner);
  gate.setHeard(true);
  expect(told).toEqual([true]);
});
