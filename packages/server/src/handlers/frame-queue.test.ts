import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";
import { FrameQueue } from "./frame-queue.ts";

const MIB = 1024 * 1024;
const small = { event: "ping", data: {} };
const large = { event: "events", data: "x".repeat(MIB) };

async function pull(queue: FrameQueue, count: number): Promise<string[]> {
  const frames = queue.frames();
  const texts: string[] = [];
  while (texts.length < count) {
    const { value } = await frames.next();
    texts.push(value?.text ?? "the end");
  }
  return texts;
}

test("WRK-7 over 1,000 unsent frames, or 4 MiB of them, are too many, until that much has left", async () => {
  const frames = new FrameQueue();
  for (let n = 0; n < 1_000; n++) frames.push(small);
  expect(frames.isFull).toBe(false);
  frames.push(small);
  expect(frames.isFull).toBe(true);
  await pull(frames, 1);
  expect(frames.isFull).toBe(false);

  const bytes = new FrameQueue();
  for (let n = 0; n < 4; n++) bytes.push(large);
  expect(bytes.isFull).toBe(true);
  let roomed = 0;
  bytes.onRoom(() => roomed++);
  await pull(bytes, 2);
  expect([bytes.isFull, roomed]).toEqual([false, 1]);
});

test("WRK-7 frames come out in order, as server-sent events, also those pushed before the end", async () => {
  const queue = new FrameQueue();
  queue.push(small);
  queue.push({ event: "listen", data: { on: true } });
  queue.end();
  expect(await pull(queue, 3)).toEqual([
    "event: ping\ndata: {}\n\n",
    'event: listen\ndata: {"on":true}\n\n',
    "the end",
  ]);
});

test("WRK-7 over 64 MiB unsent end the stream, and none of it leaves any more", async () => {
  await using t = await TestEngine.start();
  const worker = t.strangeWorker();
  await worker.register();
  const queue = new FrameQueue();
  const { workers, executions } = t.engine;
  const connection = await workers.connect(worker.ref, [], (frame) => queue.push(frame), queue);
  const { execution_id } = await t.run();
  for (let n = 0; n < 63; n++) queue.push(large);
  expect(queue.overflow.aborted).toBe(false);
  const payload = "x".repeat(MIB);
  await executions.signal({ execution_id, name: "too_many", payload, by: null });
  await connection.closed;
  expect(queue.overflow.aborted).toBe(true);
  expect(await pull(queue, 1)).toEqual(["the end"]);
  expect(() => queue.push(small)).toThrow("64 MiB");
});

test("WRK-7 a worker that reads too slowly is full: it gets nothing more, then goes on by itself", async () => {
  await using t = await TestEngine.start();
  const worker = t.strangeWorker("slow");
  await worker.register();
  const queue = new FrameQueue();
  await t.engine.workers.connect(worker.ref, [], (frame) => queue.push(frame), queue);
  const first = await t.run("first");
  expect(first).toMatchObject({ state: "CLAIMED", worker: "slow" });
  for (let n = 0; n < 4; n++) {
    const payload = "x".repeat(MIB + n);
    const { execution_id } = first;
    await t.engine.executions.signal({ execution_id, name: "more", payload, by: null });
  }
  const second = await t.run("second");
  await settled();
  expect(await t.row(second.execution_id)).toMatchObject({ state: "CREATED", worker: null });
  // What the owner has to hear of reaches it all the same.
  await t.engine.executions.cancel({ execution_id: first.execution_id, by: null });

  // The welcome, the first assignment, four signals: by the second signal there is room again.
  const texts = await pull(queue, 7);
  expect(texts.map((text) => /^event: (.*)$/m.exec(text)?.[1])).toEqual([
    "welcome",
    "assign",
    "events",
    "events",
    "events",
    "events",
    "events",
  ]);
  expect(texts.at(-1)).toContain("WORKFLOW_CANCELLING");
  await settled();
  expect(await t.row(second.execution_id)).toMatchObject({ state: "CLAIMED", worker: "slow" });
});
