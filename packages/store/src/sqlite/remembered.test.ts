/** What the store remembers of executions and sessions is never older than what is stored. */
import { join } from "node:path";
import { decideClaim, type ExecutionPatch } from "@engine/contract";
import { expect, test } from "vitest";
import {
  CALL,
  callStart,
  checkpoint,
  complete,
  startRunning,
} from "../conformance/executions/family.ts";
import { opened } from "../conformance/opened.ts";
import {
  appending,
  claimant,
  event,
  executionId,
  NOW,
  newExecution,
  newSession,
} from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();
let files = 0;

const openAt = (path: string) =>
  opened(() => openSqliteStore({ path, synchronous: "full", clock: Date.now }));
const openMemory = () => openAt(":memory:");
const freshPath = () => join(folder, `${++files}.db`);

/** A session whose worker takes work, and the claimant that it is. */
async function connected(store: Store, name: string) {
  const { session } = await store.sessions.open(newSession(name));
  const { epoch } = (await store.sessions.connect(session.session_id, "here")) ?? session;
  return { worker: session.worker, session: session.session_id, epoch, now: NOW };
}

const task = (store: Store, id: string, source_id: string, patch?: ExecutionPatch) =>
  store.executions.change(id, (row) => appending(row, [event("TASK_STARTED", source_id)], patch));

const sourcesOf = async (store: Store, id: string) =>
  (await store.log.read(id)).slice(3).map((line) => [line.event.seq, line.event.source_id]);

test("an execution that somebody owns is changed without being read", async () => {
  const store = await openMemory();
  const id = await startRunning(store, 1);
  await task(store, id, "a");
  const before = store.statementCount();
  await task(store, id, "b");
  expect(store.statementCount() - before).toBe("BEGIN UPDATE INSERT COMMIT".split(" ").length);
});

test("a guard that was asked before costs nothing, and sees what its worker is told since", async () => {
  const store = await openMemory();
  const owner = await connected(store, "s");
  const claimed = async (n: number) => {
    const before = store.statementCount();
    const { row } = await store.executions.create(newExecution(n), owner);
    return [row.session, store.statementCount() - before];
  };
  expect(await claimed(1)).toEqual(["s", 5]);
  expect(await claimed(2)).toEqual(["s", 4]);
  await store.workers.desire(owner.worker, "paused");
  expect(await claimed(3)).toEqual([null, 5]);
  await store.workers.desire(owner.worker, "active");
  expect(await claimed(4)).toEqual(["s", 5]);
});

test("WRK-4 a claim in the same commit as the session's end, loss or takeover gets nothing", async () => {
  const ends = [
    (store: Store) => store.sessions.end("s", "disconnected"),
    (store: Store) => store.sessions.lose("s", 1),
    (store: Store) => store.sessions.connect("s", "elsewhere"),
    (store: Store) => store.sessions.open(newSession("t", { worker: "worker-s" })),
    (store: Store) => store.workers.desire("worker-s", "draining"),
  ];
  for (const end of ends) {
    const store = await openMemory();
    const owner = await connected(store, "s");
    const [before, , after] = await Promise.all([
      store.executions.create(newExecution(1), owner),
      end(store),
      store.executions.create(newExecution(2), owner),
    ]);
    expect([before.row.session, after.row.session]).toEqual(["s", null]);
  }
});

test("a guard of a worker that was deleted does not hold", async () => {
  const store = await openMemory();
  const owner = await connected(store, "s");
  await store.executions.create(newExecution(1), owner);
  await store.sessions.lose("s", owner.epoch);
  await store.workers.delete(owner.worker);
  const late = { ...owner, epoch: owner.epoch + 1 };
  expect((await store.executions.create(newExecution(2), late)).row.session).toBeNull();
});

test("I2 a change that is undone with its transaction is not built upon", async () => {
  const store = await openMemory();
  const id = await startRunning(store, 1);
  const [a, taken, b] = await Promise.allSettled([
    task(store, id, "a"),
    // Breaks off after it has begun to write: everything is done once more.
    store.executions.create(newExecution(1)),
    task(store, id, "b"),
  ]);
  expect(taken.status).toBe("rejected");
  expect([a.status, b.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(await sourcesOf(store, id)).toEqual([
    [4, "a"],
    [5, "b"],
  ]);
  expect((await store.executions.find(id))?.head).toBe(5);
});

test("EXE-55 what a child's end writes into its owned parent is where the parent goes on", async () => {
  const store = await openMemory();
  const parent = await startRunning(store, 1);
  await checkpoint(
    store,
    parent,
    () => ({ state: "RUNNING", events: [callStart(false)] }),
    ({ execution_id, depth }) => [
      2,
      { parent: { execution_id, depth, call_id: CALL, detached: false } },
    ],
  );
  await store.executions.change(executionId(2), (row) => decideClaim(row, claimant));
  await checkpoint(store, executionId(2), (row) => ({
    state: "RUNNING",
    events: [event("WORKFLOW_STARTED", row.execution_id)],
  }));
  const [, then] = await Promise.all([
    complete(store, executionId(2), "done"),
    task(store, parent, "after"),
  ]);
  expect(then.row.waits).toEqual([]);
  expect((await store.log.read(parent)).slice(-2).map((line) => line.event.type)).toEqual([
    "TASK_COMPLETED",
    "TASK_STARTED",
  ]);
});

test("an execution that has ended and was deleted is gone", async () => {
  const store = await openMemory();
  const id = await startRunning(store, 1);
  await complete(store, id, "done");
  expect(await store.retention.deleteFinished(NOW + 1, 10)).toEqual([id]);
  await expect(task(store, id, "late")).rejects.toMatchObject({ code: "not_found" });
});

test("EXE-15 what another process writes into the same file is seen by the next change", async () => {
  const path = freshPath();
  const [here, there] = [await openAt(path), await openAt(path)];
  const id = await startRunning(here, 1);
  await task(here, id, "a");
  await task(there, id, "b", { name: "renamed there" });
  const { row } = await task(here, id, "c");
  expect(row.name).toBe("renamed there");
  await task(there, id, "d");
  expect(await sourcesOf(here, id)).toEqual(
    ["a", "b", "c", "d"].map((source_id, i) => [4 + i, source_id]),
  );
});

test("DSP-3 a session that another process ends in the same file gets nothing more", async () => {
  const path = freshPath();
  const [here, there] = [await openAt(path), await openAt(path)];
  const owner = await connected(here, "s");
  expect((await here.executions.create(newExecution(1), owner)).row.session).toBe("s");
  await there.sessions.end("s", "lost");
  expect((await here.executions.create(newExecution(2), owner)).row.session).toBeNull();
});
