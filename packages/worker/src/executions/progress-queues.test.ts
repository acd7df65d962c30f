import type { ProgressAccepted, ProgressItem, SessionRef } from "@engine/contract";
import { expect, test } from "vitest";
import { textCalls } from "../link/text-link.ts";
import { FakeServer } from "../testing/fake-server.ts";
import { setTimer } from "../testing/set-timer.ts";
import { createTestSession } from "../testing/test-session.ts";
import { Copies } from "./copy.ts";
import { ProgressQueues } from "./progress-queues.ts";

interface Sent {
  items: readonly ProgressItem[];
  answer(listening: boolean): void;
}

/** Queues over a server that answers when the test says so. */
function createQueues() {
  const sent: Sent[] = [];
  let arrived = () => {};
  const server = new FakeServer();
  server.progress = (_ref: SessionRef, _id: string, { items }) =>
    new Promise<ProgressAccepted>((resolve) => {
      const answer = (listening: boolean) => resolve({ accepted: items.length, listening });
      sent.push({ items, answer });
      arrived();
    });
  const copy = new Copies().add({
    execution_id: "watched",
    module_hash: "",
    name: null,
    generation: 1,
    seq: 1,
    listening: true,
  });
  const unwatched: string[] = [];
  const queues = new ProgressQueues({
    link: textCalls(server),
    session: createTestSession(server),
    setTimer,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    onUnwatched: ({ execution_id }) => void unwatched.push(execution_id),
  });
  return {
    queues,
    copy,
    sent,
    unwatched,
    async next(): Promise<Sent> {
      for (;;) {
        const request = sent.shift();
        if (request) return request;
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
    },
  };
}

const item = (value: unknown) =>
  JSON.stringify({ source_id: "t~1", name: "t", value, time: "2026-01-01 00:00:00.000" });
const values = ({ items }: Sent) => items.map(({ value }) => value);

test("PRG-4 one request is in flight, what gathers rides the next, at most 100 items", async () => {
  const { queues, copy, sent, next } = createQueues();
  queues.add(copy, item(0));
  const first = await next();
  for (let i = 1; i <= 150; i++) queues.add(copy, item(i));
  expect(values(first)).toEqual([0]);
  expect(sent).toEqual([]);
  first.answer(true);
  const second = await next();
  second.answer(true);
  const third = await next();
  third.answer(true);
  expect([values(second).length, values(third).length]).toEqual([100, 50]);
});

test("PRG-4 a request holds at most 256 KiB", async () => {
  const { queues, copy, next } = createQueues();
  for (let i = 0; i < 6; i++) queues.add(copy, item("x".repeat(60_000)));
  const first = await next();
  first.answer(true);
  expect(first.items).toHaveLength(4);
  expect((await next()).items).toHaveLength(2);
});

test("PRG-3 a queue holds 1,000 items and drops what comes then", async () => {
  const { queues, copy, next } = createQueues();
  queues.add(copy, item("first"));
  const first = await next();
  for (let i = 0; i < 1_200; i++) queues.add(copy, item(i));
  first.answer(true);
  const received: unknown[] = [];
  for (let i = 0; i < 10; i++) {
    const request = await next();
    received.push(...values(request));
    request.answer(true);
  }
  await queues.flush(copy);
  expect(received).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
  expect(queues.flush(copy)).toBeUndefined();
});

test("PRG-2 what waits is dropped once the server says that nobody watches", async () => {
  const { queues, copy, next, sent, unwatched } = createQueues();
  queues.add(copy, item(1));
  const first = await next();
  queues.add(copy, item(2));
  first.answer(false);
  await queues.flush(copy);
  expect(unwatched).toEqual(["watched"]);
  expect(sent).toEqual([]);
});
