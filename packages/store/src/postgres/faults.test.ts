import { Client } from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { appending, event, executionId, newExecution } from "../conformance/sample.ts";
import type { Changed } from "../ports/executions.ts";
import type { Store } from "../store.ts";
import { startFaultProxy } from "../testing/fault-proxy.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres({ max_connections: "30" });
afterAll(() => postgres.stop());

const open = (url: string, options: { lanes?: number; connections?: number } = {}) =>
  opened(() => openPostgresStore({ url, clock: Date.now, ...options }));

const add = (store: Store, n: number, id: string) =>
  store.executions.change(executionId(n), (row) => appending(row, [event("TASK_STARTED", id)]));

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const unavailable = (message: string) => ({
  code: "unavailable",
  message: expect.stringContaining(message),
});

test("I1 a commit whose answer was lost is found to have taken place, and is answered", async () => {
  const proxy = await startFaultProxy(await postgres.createDatabase());
  const store = await open(proxy.url);
  await store.executions.create(newExecution(1));
  const cut = proxy.cut("after commit");
  const both = await Promise.all([store.executions.create(newExecution(2)), add(store, 1, "a")]);
  await cut;
  expect(both.map(({ events }) => events.map(({ seq }) => seq))).toEqual([[1], [2]]);
  expect(await store.executions.find(executionId(2))).toEqual(both[0].row);
  expect(await store.executions.find(executionId(1))).toEqual(both[1].row);
  expect(await store.log.read(executionId(1))).toHaveLength(2);
});

test("CKP-5 a commit that never reached the database is unavailable, and nothing of it is written", async () => {
  const proxy = await startFaultProxy(await postgres.createDatabase());
  const store = await open(proxy.url);
  await store.executions.create(newExecution(1));
  const cut = proxy.cut("before commit");
  const both = await Promise.allSettled([
    store.executions.create(newExecution(2)),
    add(store, 1, "a"),
  ]);
  await cut;
  const reason = unavailable("nothing was written, try again");
  expect(both).toMatchObject([{ reason }, { reason }]);
  expect(await store.executions.find(executionId(2))).toBeUndefined();
  expect(await store.executions.find(executionId(1))).toMatchObject({ head: 1 });
  await expect(add(store, 1, "b")).resolves.toMatchObject({ events: [{ seq: 2 }] });
});

test("what cannot be found out is said to be unknown", async () => {
  const proxy = await startFaultProxy(await postgres.createDatabase());
  const store = await open(proxy.url);
  await store.executions.create(newExecution(1));
  const cut = proxy.cut("before commit");
  // No lock tells whether the transaction that was to create it has ended.
  await expect(store.executions.create(newExecution(2))).rejects.toMatchObject(
    unavailable("not known, and asking again is safe"),
  );
  await cut;
  await expect(store.executions.create(newExecution(2))).resolves.toMatchObject({ events: [{}] });
});

test.each([
  ["write", (store: Store) => store.executions.create(newExecution(1))],
  ["read", (store: Store) => store.queue.list({ limit: 1 })],
])(
  "a connection that is lost while it is set up fails the %s that waited for it, and nothing else",
  async (_, ask) => {
    const proxy = await startFaultProxy(await postgres.createDatabase());
    const store = await open(proxy.url);
    // Nothing has been asked of it yet: the next connection is for this.
    const cut = proxy.cut("set-up");
    await expect(ask(store)).rejects.toMatchObject(unavailable("does not answer"));
    await cut;
    await expect(ask(store)).resolves.toBeDefined();
  },
);

test("I1 a database that crashes and comes back under load loses nothing that was acknowledged", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const acknowledged = new Map<number, number>();
  const refused: unknown[] = [];
  let isOver = false;
  let comesBack = 0;
  const live = async (store: Store, n: number) => {
    let isCreated = false;
    for (let step = 0; !isOver; step++) {
      try {
        const { row }: Changed = isCreated
          ? await add(store, n, `${step}`)
          : await store.executions.create(newExecution(n));
        isCreated = true;
        acknowledged.set(n, row.head);
        if (refused.length > 0) comesBack++;
      } catch (error) {
        refused.push(error);
        // What was asked may have taken place all the same: then it is there.
        isCreated ||= (error as { code?: string }).code === "conflict";
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  const lives = Array.from({ length: 40 }, (_, i) => live(i % 2 ? a : b, i + 1));
  await until(() => acknowledged.size === 40);
  await postgres.crash();
  await until(() => refused.length > 100);
  await postgres.start();
  await until(() => comesBack > 400);
  isOver = true;
  await Promise.all(lives);

  const codes = new Set(refused.map((error) => (error as { code?: string }).code));
  codes.delete("conflict");
  expect([...codes]).toEqual(["unavailable"]);
  for (const [n, head] of acknowledged) {
    const row = await a.executions.find(executionId(n));
    const seqs = (await b.log.read(executionId(n))).map((line) => line.event.seq);
    expect(row?.head).toBeGreaterThanOrEqual(head);
    expect(seqs).toEqual(Array.from({ length: row?.head ?? 0 }, (_, i) => i + 1));
  }
}, 60_000);

test("every connection of the server taken: writes and reads are unavailable, later ones succeed", async () => {
  const url = await postgres.createDatabase();
  const store = await open(url);
  const clients: Client[] = [];
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on("error", () => undefined);
    const isFull = await client.connect().then(
      () => false,
      () => true,
    );
    if (isFull) break;
    clients.push(client);
  }
  const reason = unavailable("");
  const all = await Promise.allSettled([
    store.executions.create(newExecution(1)),
    store.executions.find(executionId(1)),
    store.cache.keep({ namespace: "a", task: "b", version: "1", digest: "d" }, "1", 1),
  ]);
  await Promise.all(clients.map((client) => client.end()));
  expect(all).toMatchObject([{ reason }, { reason }, { reason }]);
  await expect(store.executions.create(newExecution(1))).resolves.toMatchObject({ events: [{}] });
});

test("more reads than connections wait for their turn", async () => {
  const url = await postgres.createDatabase();
  const store = await open(url, { connections: 1 });
  await store.executions.create(newExecution(1));
  const rows = await Promise.all(
    Array.from({ length: 200 }, () => store.executions.find(executionId(1))),
  );
  expect(rows.every((row) => row?.head === 1)).toBe(true);
});

test("connections that are cut under way fail what was on them, and the next write has a new one", async () => {
  const url = await postgres.createDatabase();
  const store = await open(url);
  const client = await connected(url);
  await store.executions.create(newExecution(1));
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM executions FOR UPDATE");
  const waiting = add(store, 1, "a").catch((error) => error);
  const others = `SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  await until(async () => {
    const { rows } = await client.query(`${others} AND wait_event_type = 'Lock'`);
    return rows.length > 0;
  });
  await client.query(`SELECT pg_terminate_backend(pid) FROM (${others}) AS other`);
  expect(await waiting).toMatchObject(unavailable("does not answer; nothing was written"));
  await client.query("ROLLBACK");
  await expect(add(store, 1, "b")).resolves.toMatchObject({ events: [{ seq: 2 }] });
});

test("a batch that meets a deadlock is done one by one, and all of it is written", async () => {
  const url = await postgres.createDatabase();
  const store = await open(url);
  const client = await connected(url);
  await Promise.all([1, 2, 3].map((n) => store.executions.create(newExecution(n))));
  // Somebody who locks against the order of ids, and waits longer than the store for a deadlock.
  await client.query("SET deadlock_timeout = '10s'; BEGIN");
  const lock = (n: number) =>
    client.query("SELECT 1 FROM executions WHERE execution_id = $1 FOR UPDATE", [executionId(n)]);
  await lock(3);
  const changes = Promise.all([1, 2, 3].map((n) => add(store, n, "a")));
  const watcher = await connected(url);
  await until(async () => {
    const { rows } = await watcher.query(`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    return rows.length > 0;
  });
  await lock(1);
  await client.query("COMMIT");
  const changed = await changes;
  expect(changed.map(({ events }) => events.map(({ seq }) => seq))).toEqual([[2], [2], [2]]);
}, 20_000);

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
