import type { LoggedEvent, LogPage } from "@engine/store";
import { expect, test } from "vitest";
import { LogPages, Turns } from "./log-pages.ts";

/** A log of so many events, each with a text of that length. */
function logOf(count: number, bytes: number) {
  const value = "x".repeat(bytes);
  const events = Array.from({ length: count }, (_, i) => {
    const event = { type: "TASK_COMPLETED", source_id: "t~1", name: "t", kind: null, value };
    return { event: { ...event, time: "", meta: null, seq: i + 1 }, recorded_at: 0 } as LoggedEvent;
  });
  const pages: number[] = [];
  return {
    pages,
    log: {
      async read(_: string, { after = 0, limit = count }: LogPage = {}) {
        const page = events.slice(after, after + limit);
        pages.push(page.length);
        return page;
      },
    },
  };
}

async function seqsOf(log: ReturnType<typeof logOf>, from: number, to: number) {
  const seqs: number[] = [];
  for await (const page of new LogPages(log, new Turns(), "x").between(from, to)) {
    seqs.push(...page.map(({ event }) => event.seq));
  }
  return seqs;
}

test("a log is read from one place to another, without a gap and no further", async () => {
  const log = logOf(1_000, 10);
  const expected = Array.from({ length: 700 }, (_, i) => i + 101);
  expect(await seqsOf(log, 100, 800)).toEqual(expected);
});

test("of large events a page has few, of small ones many", async () => {
  const large = logOf(200, 200_000);
  await seqsOf(large, 0, 200);
  expect(Math.max(...large.pages)).toBeLessThanOrEqual(2);
  const small = logOf(5_000, 10);
  await seqsOf(small, 0, 5_000);
  expect(Math.max(...small.pages)).toBe(512);
});

test("a log that was deleted while it was read ends there", async () => {
  expect(await seqsOf(logOf(10, 10), 0, 1_000)).toHaveLength(10);
});

test("readers of long logs go on one after the other, and the loop goes round in between", async () => {
  const turns = new Turns();
  let turn = 0;
  let timer = setImmediate(function next() {
    turn++;
    timer = setImmediate(next);
  });
  const went: number[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      await turns.next();
      went.push(turn);
    }),
  );
  clearImmediate(timer);
  expect(new Set(went).size).toBe(20);
});
