import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { JsonThread } from "./json-thread.ts";

const thread = new JsonThread();

afterEach(() => thread.close());

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

const nested = `[${"[],".repeat(1_000_000)}[]]`;
const scan = (text: string) => thread.run({ kind: "scan", bytes: bytesOf(text) });

test("a text comes back as it was sent, with what is known of it", async () => {
  const { bytes, scanned } = await scan(nested);
  expect(Buffer.from(bytes).toString()).toBe(nested);
  expect(scanned).toMatchObject({ values: 1_000_002, depth: 2, hasProto: false });
});

test("the loop turns while millions of values are looked through", async () => {
  // It is started, and has done something before.
  await scan("1");
  let isDone = false;
  let turns = 0;
  const job = { kind: "input", bytes: bytesOf(nested), root: "body" } as const;
  const done = thread
    .run({ ...job, schema: { type: "array", items: { type: "array" } }, hashedWith: null })
    .then(() => {
      isDone = true;
    });
  for (; !isDone; turns++) await nextTurn();
  await done;
  expect(turns).toBeGreaterThan(50);
});

test("a text that is refused does not stop those behind it, and one behind another waits its turn", async () => {
  const all = ['{"a":1', "[1]", '{"b":', "null"].map(scan);
  const outcomes = await Promise.allSettled(all);
  expect(outcomes.map(({ status }) => status)).toEqual([
    "rejected",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect((outcomes[0] as PromiseRejectedResult).reason).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("line 1, column 7"),
  });
});

test("a thread that has ended is followed by another one", async () => {
  await scan("1");
  await thread.close();
  expect((await scan("[2]")).scanned.values).toBe(2);
});

test("what waits for a thread that is closed is sent away, to try again", async () => {
  const all = Promise.allSettled([nested, "1"].map(scan));
  await thread.close();
  const refused = { status: "rejected", reason: expect.objectContaining({ code: "unavailable" }) };
  expect(await all).toEqual([refused, refused]);
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
  const long = () =>
    ({ kind: "input", schema: null, root: "body", bytes: bytesOf(nested) }) as const;
  await Promise.all([thread.run(long()), thread.run(long()), thread.run(long())]);
  expect(most).toBe(1);
});
