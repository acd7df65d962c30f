import { machineTime } from "@engine/sdk/node";
import { expect, test } from "vitest";
import { processPorts } from "./process-ports.ts";

test("EXE-50 what a worker says to its runners of the time is the same there", () => {
  const before = machineTime();
  const said = processPorts.monotonic();
  expect(said).toBeGreaterThanOrEqual(before);
  expect(said).toBeLessThanOrEqual(machineTime());
});
