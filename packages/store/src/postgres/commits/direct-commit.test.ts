import { decideClaim } from "@engine/contract";
import { Client } from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { opened } from "../../conformance/opened.ts";
import {
  appending,
  event,
  executionId,
  NOW,
  newExecution,
  newSession,
} from "../../conformance/sample.ts";
import type { Store } from "../../store.ts";
import { startFaultProxy } from "../../testing/fault-proxy.ts";
import { startTestPostgres } from "../../testing/test-postgres.ts";
import { openPostgresStore } from "../postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const open = (url: string) => opened(() => openPostgresStore({ url, clock: Date.now }));

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A session that may claim; answers with whom. */
async function claimant(store: Store): Promise<{ worker: string; session: string; epoch: number }> {
  const { session } = await store.sessions.open(newSession("s1", { worker: "w" }));
  const connected = await store.sessions.connect(session.session_id, "replica");
  return { worker: "w", session: "s1", epoch: connected?.epoch ?? -1 };
}

async function owned(store: Store, n: number): Promise<void> {
  await store.executions.create(newExecution(n), { ...(await claimant(store)), now: NOW });
}

const add = (store: Store, n: number, id: string) =>
  store.executions.change(executionId(n), (row) => appending(row, [event("TASK_STARTED", id)]));

async function statements(store: Store, run: () => Promise<unknown>): Promise<number> {
  const before = store.statementCount();
  await run();
  return store.statementCount() - before;
}

test("what a session is to have is created with one statement, and each checkpoint of it takes one", async () => {
  const store = await open(await postgres.createDatabase());
  const by = await claimant(store);
  const create = () => store.executions.create(newExecution(1), { ...by, now: NOW });
  expect(await statements(store, create)).toBe(1);
  for (const id of ["a", "b", "c"])
    expect(await statements(store, () => add(store, 1, id))).toBe(1);
  const row = await store.executions.find(executionId(1));
  expect(row).toMatchObject({ state: "CLAIMED", session: "s1", head: 5 });
  const log = await store.log.read(executionId(1));
  expect(log.map(({ event }) => event.seq)).toEqual([1, 2, 3, 4, 5]);
});

test("I6 what another server has changed meanwhile is judged as it is, not as it was", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  await owned(a, 1);
  await add(a, 1, "a");
  // Not even an event tells of it: the owner was cleared.
  await b.executions.change(executionId(1), () => ({
    events: [],
    patch: { session: null, worker: null },
  }));
  const seen: (string | null)[] = [];
  const changed = await a.executions.change(executionId(1), (row) => {
    seen.push(row.session);
    return row.session === null ? undefined : appending(row, [event("TASK_STARTED", "b")]);
  });
  expect(seen).toEqual(["s1", null]);
  expect(changed).toMatchObject({ events: [], row: { session: null, head: 3 }, unchanged: true });
  expect(await b.log.read(executionId(1))).toHaveLength(3);
});

test("I3 two servers that add to one log at once leave no gap in its numbers", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  await owned(a, 1);
  for (let round = 0; round < 20; round++) {
    await Promise.all([add(a, 1, `a${round}`), add(b, 1, `b${round}`)]);
  }
  const log = await a.log.read(executionId(1));
  expect(log.map(({ event }) => event.seq)).toEqual(Array.from({ length: 42 }, (_, i) => i + 1));
});

test("DSP-3 a session that has moved on gets nothing: the execution is created and waits", async () => {
  const store = await open(await postgres.createDatabase());
  const by = await claimant(store);
  await store.sessions.connect("s1", "another");
  const { row, events } = await store.executions.create(newExecution(1), { ...by, now: NOW });
  expect(row).toMatchObject({ state: "CREATED", session: null, generation: 0 });
  expect(events).toHaveLength(1);
  await store.workers.desire("w", "paused");
  const paused = { ...by, epoch: by.epoch + 1, now: NOW };
  expect((await store.executions.create(newExecution(2), paused)).row.session).toBeNull();
});

test("DSP-3 WMD-2 a creation that was judged by metadata is still one statement, and compares the revision", async () => {
  const store = await open(await postgres.createDatabase());
  const by = { ...(await claimant(store)), now: NOW };
  const describe = (tier: string) =>
    store.workers.changeAttributes("w", (held) => ({ ...held, metadata: { tier } }));
  await describe("gold");
  const create = (n: number, attributes: number) =>
    store.executions.create(newExecution(n), { ...by, attributes });
  expect(await statements(store, () => create(1, 1))).toBe(1);
  expect(await store.executions.find(executionId(1))).toMatchObject({ session: "s1" });
  await describe("silver");
  expect((await create(2, 1)).row).toMatchObject({ state: "CREATED", session: null, head: 1 });
  const together = [create(3, 2), create(4, 1), store.executions.create(newExecution(5), by)];
  const rows = (await Promise.all(together)).map(({ row }) => row.session);
  expect(rows).toEqual(["s1", null, "s1"]);
});

test("DSP-3 WMD-2 a claim that waits for a write of metadata is judged by what was written", async () => {
  const url = await postgres.createDatabase();
  const store = await open(url);
  const by = { ...(await claimant(store)), now: NOW };
  await store.executions.create(newExecution(9));
  const writer = await connected(url);
  await writer.query("BEGIN");
  await writer.query("UPDATE workers SET revision = revision + 1 WHERE name = 'w'");
  const direct = store.executions.create(newExecution(1), { ...by, attributes: 0 });
  const guard = { session: "s1", epoch: by.epoch, active: true, attributes: 0 };
  const locked = store.executions.change(executionId(9), (row) => decideClaim(row, by), { guard });
  await someoneWaits(await connected(url));
  await writer.query("COMMIT");
  expect((await direct).row).toMatchObject({ state: "CREATED", session: null });
  expect(await locked).toMatchObject({ row: { state: "CREATED" }, unchanged: true });
});

/** @param watcher In no transaction: within one it would see the same again and again. */
async function someoneWaits(watcher: Client): Promise<void> {
  for (;;) {
    const { rows } = await watcher.query(`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    if (rows.length > 0) return;
  }
}

test("a refusal is never one of a row that is no more", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  await owned(a, 1);
  await add(b, 1, "b");
  const at = { worker: "w2", session: "s2", now: NOW };
  await a.executions.change(executionId(1), (row) => {
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
  expect(await store.log.read(executionId(1))).toHaveLength(4);
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
  expect(await store.log.read(executionId(1))).toHaveLength(3);
  expect((await add(store, 1, "c")).events.map(({ seq }) => seq)).toEqual([4]);
});

test("I6 of changes that go together the one of a row that another server was faster with is judged again", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const by = await claimant(a);
  for (const n of [1, 2, 3]) await a.executions.create(newExecution(n), { ...by, now: NOW });
  await add(b, 2, "b");
  const heads: number[] = [];
  const changes = [1, 2, 3].map((n) =>
    a.executions.change(executionId(n), (row) => {
      if (n === 2) heads.push(row.head);
      return appending(row, [event("TASK_STARTED", "a")]);
    }),
  );
  const changed = await Promise.all(changes);
  expect(heads).toEqual([2, 3]);
  expect(changed.map(({ events }) => events.map(({ seq }) => seq))).toEqual([[3], [4], [3]]);
  for (const n of [1, 2, 3]) {
    const log = await b.log.read(executionId(n));
    expect(log.at(-1)?.event).toMatchObject({ source_id: "a", seq: n === 2 ? 4 : 3 });
    expect((await b.executions.find(executionId(n)))?.head).toBe(log.length);
  }
});

test("DSP-3 a creation whose session has moved on keeps nothing back that goes with it", async () => {
  const store = await open(await postgres.createDatabase());
  const by = await claimant(store);
  await store.executions.create(newExecution(1), { ...by, now: NOW });
  const other = await store.sessions.open(newSession("s2", { worker: "w2" }));
  const connected = await store.sessions.connect(other.session.session_id, "replica");
  const lives = { worker: "w2", session: "s2", epoch: connected?.epoch ?? -1, now: NOW };
  await store.sessions.lose("s1", by.epoch);
  const together = Promise.all([
    add(store, 1, "a"),
    store.executions.create(newExecution(2), { ...by, now: NOW }),
    store.executions.create(newExecution(3), lives),
  ]);
  const rows = (await together).map(({ row }) => row);
  expect(rows).toMatchObject([
    { session: "s1", head: 3 },
    { state: "CREATED", session: null, head: 1 },
    { state: "CLAIMED", session: "s2", head: 2 },
  ]);
  for (const row of rows) expect(await store.executions.find(row.execution_id)).toEqual(row);
  for (const { execution_id, head } of rows) {
    expect(await store.log.read(execution_id)).toHaveLength(head);
  }
});

test("I1 changes and creations whose one answer was lost are all found to have taken place", async () => {
  const proxy = await startFaultProxy(await postgres.createDatabase());
  const store = await open(proxy.url);
  const by = await claimant(store);
  for (const n of [1, 2]) await store.executions.create(newExecution(n), { ...by, now: NOW });
  const cut = proxy.cut({ after: "TASK_STARTED", answered: "SELECT" });
  const changed = await Promise.all([
    add(store, 1, "a"),
    store.executions.create(newExecution(3), { ...by, now: NOW }),
    add(store, 2, "a"),
  ]);
  await cut;
  expect(changed.map(({ row }) => row.head)).toEqual([3, 2, 3]);
  for (const { row } of changed) {
    expect(await store.log.read(row.execution_id)).toHaveLength(row.head);
  }
});

test("I1 what was said to be not written stays so, however late the database hears of it", async () => {
  const proxy = await startFaultProxy(await postgres.createDatabase());
  const store = await open(proxy.url);
  const by = await claimant(store);
  for (const n of [1, 2]) await store.executions.create(newExecution(n), { ...by, now: NOW });
  const holding = proxy.hold("TASK_STARTED");
  const changes = Promise.allSettled([add(store, 1, "a"), add(store, 2, "a")]);
  const held = await holding;
  const reason = { code: "unavailable", message: expect.stringContaining("nothing was written") };
  expect(await changes).toMatchObject([{ reason }, { reason }]);
  await held.deliver();
  for (const n of [1, 2]) {
    expect(await store.log.read(executionId(n))).toHaveLength(2);
    expect((await store.executions.find(executionId(n)))?.head).toBe(2);
  }
  expect((await add(store, 1, "b")).events.map(({ seq }) => seq)).toEqual([3]);
});

test("two servers that change the same executions, asked in opposite orders, never wait in a circle", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const by = await claimant(a);
  const numbers = [1, 2, 3, 4, 5];
  for (const n of numbers) await a.executions.create(newExecution(n), { ...by, now: NOW });
  const [client, watcher] = [await connected(url), await connected(url)];
  // Between them, so that each has what the other one is to wait for.
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM executions WHERE execution_id = $1 FOR UPDATE", [
    executionId(3),
  ]);
  const waiting = async (count: number) => {
    for (;;) {
      const { rows } = await watcher.query(`SELECT 1 FROM pg_locks AS l JOIN pg_stat_activity AS a
        USING (pid) WHERE a.datname = current_database() AND NOT l.granted`);
      if (rows.length >= count) return;
    }
  };
  const before = a.statementCount();
  const ofA = Promise.all(numbers.toReversed().map((n) => add(a, n, "a")));
  await waiting(1);
  const ofB = Promise.all(numbers.map((n) => add(b, n, "b")));
  await waiting(2);
  await client.query("COMMIT");
  const [changedByA, changedByB] = await Promise.all([ofA, ofB]);
  // Nothing was undone, to be done another way.
  expect(a.statementCount() - before).toBe(1);
  expect(changedByA.flatMap(({ events }) => events.map(({ seq }) => seq))).toEqual(
    numbers.map(() => 3),
  );
  expect(changedByB.flatMap(({ events }) => events.map(({ seq }) => seq))).toEqual(
    numbers.map(() => 4),
  );
});

test("EXE-85 a label that its owner changes is found in any case", async () => {
  const store = await open(await postgres.createDatabase());
  await owned(store, 1);
  const change = () =>
    store.executions.change(executionId(1), (row) =>
      appending(row, [event("TASK_STARTED", "a")], { name: "Élan" }),
    );
  expect(await statements(store, change)).toBe(1);
  const page = { limit: 9, offset: 0, order: "created_asc" } as const;
  expect((await store.executions.list({ label: "éL", ...page })).total).toBe(1);
});

test("a change that takes more than one row of the log is written whole", async () => {
  const store = await open(await postgres.createDatabase());
  await owned(store, 1);
  const events = Array.from({ length: 1_500 }, (_, i) => event("TASK_STARTED", `${i}`));
  const { row } = await store.executions.change(executionId(1), (row) => appending(row, events));
  expect(row.head).toBe(1_502);
  const log = await store.log.read(executionId(1));
  expect(log.map(({ event }) => event.seq)).toEqual(Array.from({ length: 1_502 }, (_, i) => i + 1));
});
