import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { machineTime } from "./machine-time.ts";

test("EXE-50 what one thread says to another of the time is the same there", async () => {
  const source = `
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", () => parentPort.postMessage(Number(process.hrtime.bigint()) / 1e6));
  `;
  const thread = new Worker(source, { eval: true });
  const before = machineTime();
  const there = await new Promise<number>((resolve) => {
    thread.once("message", resolve);
    thread.postMessage("now");
  });
  const after = machineTime();
  await thread.terminate();
  expect(there).toBeGreaterThanOrEqual(before);
  expect(there).toBeLessThanOrEqual(after);
});
