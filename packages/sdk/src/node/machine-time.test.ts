import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";

test("EXE-50 what one thread says to another of the time is the same there, though it had to wait as it began", async () => {
  const { now } = performance;
  const slow = vi.spyOn(performance, "now").mockImplementation(() => {
    const until = Date.now() + 20;
    while (Date.now() < until);
    return now.call(performance);
  });
  onTestFinished(() => slow.mockRestore());
  const { machineTime } = await import("./machine-time.ts");
  slow.mockRestore();
  const source = `
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", () => parentPort.postMessage(Number(process.hrtime.bigint()) / 1e6));
  `;
  const thread = new Worker(source, { eval: true });
  onTestFinished(async () => void (await thread.terminate()));
  await new Promise((resolve) => thread.once("online", resolve));
  const before = machineTime();
  const there = await new Promise<number>((resolve) => {
    thread.once("message", resolve);
    thread.postMessage("now");
  });
  expect(there).toBeGreaterThanOrEqual(before);
  expect(there).toBeLessThanOrEqual(machineTime());
});
