import { createdExecution, type ExecutionRow } from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { expect, test } from "vitest";
import { ManualTime } from "../testing/manual-time.ts";
import { Waiters } from "./waiters.ts";

function row(changes: Partial<ExecutionRow>): ExecutionRow {
  const { row: created } = createdExecution({
    execution_id: "x",
    namespace: "default",
    workflow: "hello",
    version: 1,
    module_hash: "m",
    input: null,
    trigger: { kind: "api" },
    by: null,
    seed: "seed",
    now: 0,
  });
  return { ...created, ...changes };
}

async function waiters(time: ManualTime): Promise<Waiters> {
  const store = await openSqliteStore({
    path: ":memory:",
    synchronous: "normal",
    clock: time.clock,
  });
  return new Waiters({ store, setTimer: time.setTimer });
}

test("a resume is not answered with the pause that it answers", async () => {
  const waits = await waiters(new ManualTime());
  const wait = waits.open("x");
  waits.onCommit({
    row: row({ state: "PAUSED", head: 6 }),
    events: [],
    recorded_at: 0,
    others: [],
  });
  const answer = wait.until(row({ state: "RESUMING", head: 9 }));
  waits.onCommit({
    row: row({ state: "COMPLETED", head: 12 }),
    events: [],
    recorded_at: 0,
    others: [],
  });
  expect(await answer).toMatchObject({ state: "COMPLETED" });
});

test("what ended before the wait began is answered at once", async () => {
  const waits = await waiters(new ManualTime());
  const wait = waits.open("x");
  waits.onCommit({
    row: row({ state: "FAILED", head: 4 }),
    events: [],
    recorded_at: 0,
    others: [],
  });
  expect(await wait.until(row({ state: "CLAIMED", head: 2 }))).toMatchObject({ state: "FAILED" });
  expect(await waits.open("x").until(row({ state: "COMPLETED", head: 4 }))).toMatchObject({
    state: "COMPLETED",
  });
});

test("two who wait for one execution are both answered, each by its own time limit at the latest", async () => {
  const time = new ManualTime();
  const waits = await waiters(time);
  const [short, long] = [waits.open("x"), waits.open("x")];
  const first = short.until(row({ state: "RUNNING" }), { timeoutMs: 10 });
  const second = long.until(row({ state: "RUNNING" }), { timeoutMs: 1000 });
  await time.advance(10);
  expect(await first).toMatchObject({ state: "RUNNING" });
  short.close();
  waits.onCommit({
    row: row({ state: "PAUSED", head: 3 }),
    events: [],
    recorded_at: 0,
    others: [],
  });
  expect(await second).toMatchObject({ state: "PAUSED" });
});
