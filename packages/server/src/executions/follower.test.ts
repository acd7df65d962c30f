import {
  createdExecution,
  decideClaim,
  type ExecutionRow,
  type NewEvent,
  patchOf,
} from "@engine/contract";
import type { LoggedEvent } from "@engine/store";
import { expect, test } from "vitest";
import { Follower } from "./follower.ts";
import { rowBefore } from "./row-after.ts";
import { isSettled } from "./waiters.ts";

interface News {
  readonly row: ExecutionRow;
  readonly logged: LoggedEvent[];
}

/** The commits of an execution that is claimed, started and completed, each by itself. */
function commits(): News[] {
  const now = 0;
  const { row: created, events } = createdExecution({
    execution_id: "x",
    namespace: "default",
    workflow: "hello",
    version: 1,
    module_hash: "m",
    input: null,
    trigger: { kind: "api" },
    by: null,
    seed: "seed",
    now,
  });
  const news: News[] = [{ row: created, logged: logged(created, events) }];
  const [event] = events as [NewEvent];
  const claim = decideClaim(created, { worker: "w", session: "s", now });
  if (!claim) throw new Error("not claimed");
  let row: ExecutionRow = { ...created, ...claim.patch };
  news.push({ row, logged: logged(row, claim.events) });
  for (const type of ["WORKFLOW_STARTED", "WORKFLOW_COMPLETED"] as const) {
    const next = { ...event, type, value: null };
    row = { ...row, ...patchOf(row, [next], now) };
    news.push({ row, logged: logged(row, [next]) });
  }
  return news;
}

function logged({ head }: ExecutionRow, events: readonly NewEvent[]): LoggedEvent[] {
  const first = head - events.length + 1;
  return events.map((event, i) => ({ event: { ...event, seq: first + i }, recorded_at: 0 }));
}

const ports = { shown: async (row: ExecutionRow) => row, isLast: isSettled };

async function idsOf(follower: Follower): Promise<unknown[]> {
  const ids: unknown[] = [];
  for await (const part of follower.frames()) ids.push(typeof part === "string" ? part : part.id);
  return ids;
}

test("EXE-91 frames come in the order of the log, whatever order the commits are told in", async () => {
  const [created, claimed, started, completed] = commits() as [News, News, News, News];
  const follower = new Follower("x", ports);
  follower.begin(rowBefore(created.row), 0);
  for (const { row, logged } of [completed, claimed, started, created]) follower.see(row, logged);
  expect(await idsOf(follower)).toEqual([1, 2, 3, 4]);
});

test("EXE-91 what is told twice comes once", async () => {
  const news = commits();
  const follower = new Follower("x", ports);
  follower.begin(rowBefore(commits()[0]?.row as ExecutionRow), 0);
  for (const { row, logged } of [...news.slice(0, 2), ...news]) follower.see(row, logged);
  expect(await idsOf(follower)).toEqual([1, 2, 3, 4]);
});

test("what was committed before the reader knew where to begin is not lost", async () => {
  const news = commits();
  const follower = new Follower("x", ports);
  for (const { row, logged } of news) follower.see(row, logged);
  follower.begin(news[1]?.row as ExecutionRow, 2);
  expect(await idsOf(follower)).toEqual([3, 4]);
});

/** A row whose log grows by one event of that many bytes at a time. */
function* large(bytes: number): Generator<News, void, undefined> {
  const news = commits()[2] as News;
  const [entry] = news.logged as [LoggedEvent];
  const output = "x".repeat(bytes);
  for (let head = news.row.head; ; head++) {
    const event = { ...entry.event, type: "TASK_COMPLETED" as const, seq: head, value: output };
    yield { row: { ...news.row, head }, logged: [{ ...entry, event }] };
  }
}

const MIB = 1024 * 1024;

test("EXE-94 a reader that does not read is cut off once 64 MiB wait for it", async () => {
  const follower = new Follower("x", { ...ports, events: "all" });
  const source = large(MIB);
  const { row } = commits()[2] as News;
  follower.begin(row, row.head - 1);
  let told = 0;
  for (const { row, logged } of source) {
    follower.see(row, logged);
    if (follower.overflow.aborted || told === 200) break;
    told++;
  }
  expect(follower.overflow.aborted).toBe(true);
  expect(told).toBeGreaterThan(63);
  await expect(follower.frames().next()).rejects.toThrow("64 MiB");
});

test("EXE-94 a reader that reads gets any amount, and one that begins late any length of log", async () => {
  const follower = new Follower("x", { ...ports, events: "all" });
  const source = large(MIB);
  const { row } = commits()[2] as News;
  const next = () => source.next().value as News;
  const log = Array.from({ length: 150 }, next);
  const { row: now } = log.at(-1) as News;
  follower.begin(row, row.head - 1);
  follower.seeFirst(
    now,
    log.flatMap(({ logged }) => logged),
  );
  const frames = follower.frames();
  for (let read = 0; read < 150; read++) await frames.next();
  for (let read = 0; read < 150; read++) {
    const { row, logged } = next();
    follower.see(row, logged);
    expect((await frames.next()).value).toMatchObject({ id: row.head });
  }
});
