import { machineTime } from "@engine/sdk/node";
import { expect, onTestFinished, test, vi } from "vitest";

test("EXE-50 what a worker says to its runners of the time is the same there, though its process had to wait as it began", async () => {
  const { now } = performance;
  const slow = vi.spyOn(performance, "now").mockImplementation(() => {
    const until = Date.now() + 20;
    while (Date.now() < until);
    return now.call(performance);
  });
  onTestFinished(() => slow.mockRestore());
  const { processPorts } = await import("./process-ports.ts");
  slow.mockRestore();
  const before = machineTime();
  const said = processPorts.monotonic();
  expect(said).toBeGreaterThanOrEqual(before);
  expect(said).toBeLessThanOrEqual(machineTime());
});
