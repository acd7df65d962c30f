import {
  createdExecution,
  decideClaim,
  EngineError,
  type ExecutionRow,
  type NewEvent,
  patchOf,
} from "@engine/contract";
import type { LoggedEvent, LogPage } from "@engine/store";
import { expect, test } from "vitest";
import { Follower, type FollowPart, type View } from "./follower.ts";
import { LogPages, Turns } from "./log-pages.ts";
import { NOBODY } from "./principal-refs.ts";
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

/** A store that has what was committed so far; it counts how often somebody reads the log. */
class Kept {
  readonly news: News[] = [];
  reads = 0;
  isAway = false;

  add(...news: readonly News[]): void {
    this.news.push(...news);
  }

  follower(view: Partial<View> = {}): Follower {
    return new Follower("x", {
      isLast: isSettled,
      shown: async (row) => row,
      refs: { known: () => NOBODY, of: async () => NOBODY },
      find: async () => {
        if (this.isAway) throw new EngineError("unavailable", "the database is away");
        return this.news.at(-1)?.row;
      },
      pages: (id) => new LogPages(this, new Turns(), id),
      ...view,
    });
  }

  readonly log = {
    read: async (
      _: string,
      { after = 0, limit = Infinity }: LogPage = {},
    ): Promise<LoggedEvent[]> => {
      this.reads++;
      const all = this.news.flatMap(({ logged }) => logged);
      return all.filter(({ event }) => event.seq > after).slice(0, limit);
    },
  };
}

async function idsOf(follower: Follower): Promise<unknown[]> {
  const ids: unknown[] = [];
  for await (const part of follower.frames()) ids.push(typeof part === "string" ? part : part.id);
  return ids;
}

test("EXE-91 frames come in the order of the log, whatever order the commits are told in", async () => {
  const [created, claimed, started, completed] = commits() as [News, News, News, News];
  const kept = new Kept();
  kept.add(created, claimed, started, completed);
  const follower = kept.follower();
  follower.begin(rowBefore(created.row), 0);
  for (const { row, logged } of [completed, claimed, started, created]) follower.see(row, logged);
  expect(await idsOf(follower)).toEqual([1, 2, 3, 4]);
});

test("EXE-91 what is told twice comes once", async () => {
  const news = commits();
  const kept = new Kept();
  kept.add(...news);
  const follower = kept.follower();
  follower.begin(rowBefore(commits()[0]?.row as ExecutionRow), 0);
  for (const { row, logged } of [...news.slice(0, 2), ...news]) follower.see(row, logged);
  expect(await idsOf(follower)).toEqual([1, 2, 3, 4]);
});

test("what was committed before the reader knew where to begin is not lost", async () => {
  const news = commits();
  const kept = new Kept();
  kept.add(...news);
  const follower = kept.follower();
  for (const { row, logged } of news) follower.see(row, logged);
  follower.begin(news[1]?.row as ExecutionRow, 2);
  expect(await idsOf(follower)).toEqual([3, 4]);
  expect(kept.reads).toBe(0);
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

const EVENTS = 1_000;

/** A reader of an execution that has gone on by so many events without being read. */
function unread(kept: Kept, view: Partial<View>, bytes: number): Follower {
  const follower = kept.follower(view);
  const source = large(bytes);
  const { row } = commits()[2] as News;
  follower.begin(row, row.head - 1);
  for (let told = 0; told < EVENTS; told++) {
    const news = source.next().value as News;
    kept.add(news);
    follower.see(news.row, news.logged);
  }
  return follower;
}

/** How many frames come before the store is asked for more. */
async function heldBy(kept: Kept, frames: AsyncGenerator<FollowPart>): Promise<number> {
  let held = 0;
  while (kept.reads === 0) {
    await frames.next();
    held++;
  }
  return held - 1;
}

test("EXE-94 for a reader that does not read only a few frames are held, and fewer where they are large", async () => {
  for (const [bytes, most] of [
    [100, 64],
    [100_000, 12],
    [1_000_000, 10],
  ] as const) {
    const kept = new Kept();
    const frames = unread(kept, { events: "all" }, bytes).frames();
    expect(await heldBy(kept, frames)).toBeLessThanOrEqual(most);
  }
});

test("EXE-93 a reader that comes to read after all misses nothing and gets nothing twice", async () => {
  const kept = new Kept();
  const follower = unread(kept, { events: "all" }, 2_000);
  const { row } = kept.news[0] as News;
  const frames = follower.frames();
  const ids: unknown[] = [];
  while (ids.length < EVENTS) {
    const { value } = await frames.next();
    ids.push((value as { id: number }).id);
  }
  expect(ids).toEqual(Array.from({ length: EVENTS }, (_, n) => row.head + n));
  // And goes on with what is told, without the store.
  const { reads } = kept;
  const [last] = kept.news.slice(-1) as [News];
  const [entry] = last.logged as [LoggedEvent];
  const next = { ...entry, event: { ...entry.event, seq: last.row.head + 1 } };
  follower.see({ ...last.row, head: last.row.head + 1 }, [next]);
  expect((await frames.next()).value).toMatchObject({ id: last.row.head + 1 });
  expect(kept.reads).toBe(reads);
});

test("EXE-93 a reader that is behind while the store is away goes on when that is back", async () => {
  const kept = new Kept();
  kept.isAway = true;
  const follower = unread(kept, { events: "all" }, 100);
  const read = follower.frames();
  for (let held = 0; held < 64; held++) await read.next();
  const next = read.next();
  await new Promise((resolve) => setImmediate(resolve));
  expect(kept.reads).toBe(0);
  kept.isAway = false;
  // As the server looks around from time to time.
  follower.see((kept.news.at(-1) as News).row, []);
  await follower.catchUp();
  const { row } = kept.news[0] as News;
  expect((await next).value).toMatchObject({ id: row.head + 64 });
});

test("PRG-6 progress that comes while a reader catches up comes behind what it missed, and not without bound", async () => {
  const kept = new Kept();
  const follower = unread(kept, { events: "all" }, 100);
  const item = { source_id: "t~1", name: "t", time: "" };
  for (let n = 0; n < 1_100; n++) follower.seeProgress({ ...item, value: n });
  const parts: FollowPart[] = [];
  for await (const part of follower.frames()) {
    parts.push(part);
    if (parts.length === EVENTS + 1_001) break;
  }
  const names = parts.map((part) => (typeof part === "string" ? part : part.event));
  expect(names.indexOf("task.progress")).toBe(names.lastIndexOf("event") + 1);
  expect(names.filter((name) => name === "task.progress")).toHaveLength(1_000);
  expect(names).toContain("dropped 100");
});

test("PRG-6 of large progress values a reader that does not read holds 1 MiB", async () => {
  const kept = new Kept();
  kept.add(...commits());
  const follower = kept.follower();
  const { row } = commits()[2] as News;
  follower.begin(row, row.head);
  const value = "x".repeat(100_000);
  const item = { source_id: "t~1", name: "t", time: "" };
  for (let n = 0; n < 500; n++) follower.seeProgress({ ...item, value });
  follower.end();
  const parts: FollowPart[] = [];
  for await (const part of follower.frames()) parts.push(part);
  expect(parts.length).toBeLessThan(20);
  expect(parts.at(-1)).toBe(`dropped ${501 - parts.length}`);
});
