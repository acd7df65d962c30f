import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { inputThread } from "./input-thread.ts";

const thread = inputThread();

afterEach(() => thread.close());

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

const nested = `[${"[],".repeat(1_000_000)}[]]`;

test("the loop turns while millions of values are checked", async () => {
  // It is started, and has done something before.
  await thread.run({ bytes: bytesOf("1"), schema: null, root: "body" });
  let isDone = false;
  let turns = 0;
  const job = { bytes: bytesOf(nested), root: "body" };
  const done = thread
    .run({ ...job, schema: { type: "array", items: { type: "array" } }, hashedWith: null })
    .then(() => {
      isDone = true;
    });
  for (; !isDone; turns++) await nextTurn();
  await done;
  expect(turns).toBeGreaterThan(50);
});

test("a thread that has made values of a long text has ended before the next one begins", async () => {
  const alive = new Set<Worker>();
  let most = 0;
  const began = (worker: Worker) => {
    alive.add(worker);
    most = Math.max(most, alive.size);
    worker.once("exit", () => alive.delete(worker));
  };
  process.on("worker", began);
  onTestFinished(() => void process.off("worker", began));
  const long = () => ({ schema: null, root: "body", bytes: bytesOf(nested) });
  await Promise.all([thread.run(long()), thread.run(long()), thread.run(long())]);
  expect(most).toBe(1);
});
