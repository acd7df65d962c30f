import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { beginningOf, machineTime } from "./machine-time.ts";

test("EXE-50 a thread that has to wait while it looks for its beginning knows it all the same", () => {
  const [zero, waits] = [1_000, [0, 14, 0.001, 3, 0]];
  let now = 50;
  const beginning = beginningOf({
    machineNanoseconds: () => {
      const read = BigInt((zero + now) * 1e6);
      now += waits.shift() ?? 0;
      return read;
    },
    elapsed: () => now,
  });
  expect(beginning).toBe(zero);
});

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
  expect(there).toBeGreaterThanOrEqual(before - 0.5);
  expect(there).toBeLessThanOrEqual(after + 0.5);
});
