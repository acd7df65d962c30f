import { decideClaim } from "@engine/contract";
import { afterAll, expect, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import {
  appending,
  event,
  executionId,
  NOW,
  newExecution,
  newSession,
} from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { startTestPostgres } from "../test-postgres.ts";
import { startFaultProxy } from "./fault-proxy.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const open = (url: string) => opened(() => openPostgresStore({ url, clock: Date.now }));

/** A session that may claim; answers with whom. */
async function claimant(store: Store): Promise<{ worker: string; session: string; epoch: number }> {
  const { session } = await store.openSession(newSession("s1", { worker: "w" }));
  const connected = await store.connectSession(session.session_id, "replica");
  return { worker: "w", session: "s1", epoch: connected?.epoch ?? -1 };
}

async function owned(store: Store, n: number): Promise<void> {
  await store.createExecution(newExecution(n), { ...(await claimant(store)), now: NOW });
}

const add = (store: Store, n: number, id: string) =>
  store.changeExecution(executionId(n), (row) => appending(row, [event("TASK_STARTED", id)]));

async function statements(store: Store, run: () => Promise<unknown>): Promise<number> {
  const before = store.statementCount();
  await run();
  return store.statementCount() - before;
}

test("what a session is to have is created with one statement, and each checkpoint of it takes one", async () => {
  const store = await open(await postgres.createDatabase());
  const by = await claimant(store);
  const create = () => store.createExecution(newExecution(1), { ...by, now: NOW });
  expect(await statements(store, create)).toBe(1);
  for (const id of ["a", "b", "c"])
    expect(await statements(store, () => add(store, 1, id))).toBe(1);
  const row = await store.findExecution(executionId(1));
  expect(row).toMatchObject({ state: "CLAIMED", session: "s1", head: 5 });
  const log = await store.readLog(executionId(1));
  expect(log.map(({ event }) => event.seq)).toEqual([1, 2, 3, 4, 5]);
});

test("I6 what another server has changed meanwhile is judged as it is, not as it was", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  await owned(a, 1);
  await add(a, 1, "a");
  // Not even an event tells of it: the owner was cleared.
  await b.changeExecution(executionId(1), () => ({
    events: [],
    patch: { session: null, worker: null },
  }));
  const seen: (string | null)[] = [];
  const changed = await a.changeExecution(executionId(1), (row) => {
    seen.push(row.session);
    return row.session === null ? undefined : appending(row, [event("TASK_STARTED", "b")]);
  });
  expect(seen).toEqual(["s1", null]);
  expect(changed).toMatchObject({ events: [], row: { session: null, head: 3 } });
  expect(await b.readLog(executionId(1))).toHaveLength(3);
});

test("I3 two servers that add to one log at once leave no gap in its numbers", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  await owned(a, 1);
  for (let round = 0; round < 20; round++) {
    await Promise.all([add(a, 1, `a${round}`), add(b, 1, `b${round}`)]);
  }
  const log = await a.readLog(executionId(1));
  expect(log.map(({ event }) => event.seq)).toEqual(Array.from({ length: 42 }, (_, i) => i + 1));
});

test("DSP-3 a session that has moved on gets nothing: the execution is created and waits", async () => {
  const store = await open(await postgres.createDatabase());
  const by = await claimant(store);
  await store.connectSession("s1", "another");
  const { row, events } = await store.createExecution(newExecution(1), { ...by, now: NOW });
  expect(row).toMatchObject({ state: "CREATED", session: null, generation: 0 });
  expect(events).toHaveLength(1);
  await store.setDesiredState("w", "paused");
  const paused = { ...by, epoch: by.epoch + 1, now: NOW };
  expect((await store.createExecution(newExecution(2), paused)).row.session).toBeNull();
});

test("a refusal is never one of a row that is no more", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  await owned(a, 1);
  await add(b, 1, "b");
  const at = { worker: "w2", session: "s2", now: NOW };
  await a.changeExecution(executionId(1), (row) => {
    if (row.head < 3) throw new Error("judged on an old row");
    return decideClaim(row, at);
  });
});

test("I1 a change whose answer was lost is found to have taken place, and is answered", async () => {
  const proxy = await startFaultProxy(await postgres.createDatabase());
  const store = await open(proxy.url);
  await owned(store, 1);
  await add(store, 1, "a");
  const cut = proxy.cut({ after: "TASK_STARTED", answered: "SELECT" });
  const changed = await add(store, 1, "b");
  await cut;
  expect(changed.events.map(({ seq }) => seq)).toEqual([4]);
  expect(await store.readLog(executionId(1))).toHaveLength(4);
  expect((await add(store, 1, "c")).events.map(({ seq }) => seq)).toEqual([5]);
});

test("CKP-5 a change that never reached the database is unavailable, and nothing of it is written", async () => {
  const proxy = await startFaultProxy(await postgres.createDatabase());
  const store = await open(proxy.url);
  await owned(store, 1);
  await add(store, 1, "a");
  const cut = proxy.cut({ before: "TASK_STARTED" });
  await expect(add(store, 1, "b")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("nothing was written"),
  });
  await cut;
  expect(await store.readLog(executionId(1))).toHaveLength(3);
  expect((await add(store, 1, "c")).events.map(({ seq }) => seq)).toEqual([4]);
});
