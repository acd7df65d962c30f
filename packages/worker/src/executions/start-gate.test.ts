import { expect, test } from "vitest";
import { StartGate } from "./start-gate.ts";

/** A gate, and what its runners were told: `true` to hold, `false` to go on. */
function createGate() {
  const told: boolean[] = [];
  return { gate: new StartGate((on) => void told.push(on)), told };
}

test("WRK-8 runners hold while the server is not heard, and go on with it", () => {
  const { gate, told } = createGate();
  gate.setHeard(true);
  gate.setHeard(false);
  gate.setHeard(false);
  gate.setHeard(true);
  expect(told).toEqual([false, true, false]);
});

test("WRK-12 a worker that leaves holds for good, and is told again of what has stalled", () => {
  const { gate, told } = createGate();
  gate.setHeard(true);
  gate.setHeard(false);
  gate.leave();
  gate.setHeard(true);
  gate.setHeard(false);
  expect(told).toEqual([false, true, true]);
  expect(gate.isLeaving).toBe(true);
});
