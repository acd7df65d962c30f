import { inspect } from "node:util";
import { Client } from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { type OpenOptions, opened } from "../conformance/opened.ts";
import { appending, event, executionId, newExecution, newSession } from "../conformance/sample.ts";
import { storeConformance } from "../conformance.ts";
import { rendered, type Sql } from "../operations/sql.ts";
import type { QueuedExecution } from "../ports/queue.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const migrated = await postgres.createDatabase();
await (await openPostgresStore({ url: migrated, clock: Date.now })).close();

const open = async (clock = Date.now, options: OpenOptions = {}) =>
  openPostgresStore({ url: await postgres.createDatabase(migrated), clock, ...options });

storeConformance("PostgreSQL", (options) => open(Date.now, options));

test("what is asked for together is one transaction of six statements, whatever its size", async () => {
  const store = await opened(() => open());
  const ids = Array.from({ length: 100 }, (_, i) => executionId(i + 1));
  const start = store.statementCount();
  await Promise.all(ids.map((_, i) => store.executions.create(newExecution(i + 1))));
  const created = store.statementCount();
  // The notification of it may have been sent meanwhile.
  expect(created - start).toBeLessThanOrEqual(
    "begin lock rows segments commit notify".split(" ").length,
  );
  await Promise.all(
    ids.map((id) =>
      store.executions.change(id, (row) => appending(row, [event("TASK_STARTED", "a")]), {
        above: 1,
      }),
    ),
  );
  const changed = store.statementCount() - created;
  expect(changed).toBeLessThanOrEqual(
    "begin lock rows segments commit notify notify".split(" ").length,
  );
});

test("DSP-3 EXE-84 guards cost a transaction one statement, unique keys another, whatever their number", async () => {
  const store = await opened(() => open());
  const numbers = Array.from({ length: 50 }, (_, i) => i + 1);
  const cost = async (ask: (n: number) => Promise<unknown>) => {
    const before = store.statementCount();
    await Promise.all(numbers.map(ask));
    return store.statementCount() - before;
  };
  const unique = (n: number) => ({ key: `${n}`, request_hash: "h" });
  const create = (n: number) => store.executions.create(newExecution(n, { unique: unique(n) }));
  expect(await cost(create)).toBe("begin lock keys rows segments commit".split(" ").length);
  await store.sessions.open(newSession("s"));
  const change = (n: number) =>
    store.executions.change(executionId(n), (row) => appending(row, [event("TASK_STARTED", "a")]), {
      guard: { session: n % 2 ? "s" : "nobody's", epoch: 0 },
    });
  expect(await cost(change)).toBe("begin lock sessions rows segments commit".split(" ").length);
  expect(await cost(create)).toBe("begin lock keys rollback".split(" ").length);
});

test("changes of one execution are made in the order of asking, over all connections", async () => {
  const store = await opened(() => open());
  await Promise.all([1, 2, 3].map((n) => store.executions.create(newExecution(n))));
  const asked = Array.from({ length: 60 }, (_, i) => `a~${i}`);
  const changes: Promise<unknown>[] = [];
  for (const [i, id] of asked.entries()) {
    for (const n of i % 2 ? [1, 2, 3] : [3, 1]) {
      changes.push(
        store.executions.change(executionId(n), (row) =>
          appending(row, [event("TASK_STARTED", id)]),
        ),
      );
      await new Promise(setImmediate);
    }
  }
  await Promise.all(changes);
  const [, ...log] = await store.log.read(executionId(1));
  expect(log.map((line) => line.event.source_id)).toEqual(asked);
});

test("what one commit adds to a log is one row of it, of at most a thousand events", async () => {
  const url = await postgres.createDatabase(migrated);
  const store = await opened(() => openPostgresStore({ url, clock: Date.now }));
  await store.executions.create(newExecution(1));
  const add = (count: number) =>
    store.executions.change(executionId(1), (row) =>
      appending(
        row,
        Array.from({ length: count }, (_, i) => event("TASK_STARTED", `a~${i}`)),
      ),
    );
  await Promise.all([add(2), add(3), add(2_001)]);
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("SELECT seq, last_seq FROM segments ORDER BY seq");
  await client.end();
  expect(rows.map(({ seq, last_seq }) => [seq, last_seq])).toEqual([
    [1, 1],
    [2, 6],
    [7, 1_006],
    [1_007, 2_006],
    [2_007, 2_007],
  ]);
  expect(await store.log.read(executionId(1))).toHaveLength(2_007);
});

test("the time recorded with an event is the store's clock, one for all of a commit", async () => {
  let now = 1_000;
  const store = await opened(() => open(() => now++));
  const together = await Promise.all([
    store.executions.create(newExecution(1)),
    store.executions.create(newExecution(2)),
  ]);
  const later = await store.executions.create(newExecution(3));
  const [first, second] = together.map(({ recorded_at }) => recorded_at);
  expect(second).toBe(first);
  expect(later.recorded_at).toBe((first ?? 0) + 1);
});

test("a change of an execution with a large input hands the input on, and can be looked at after close", async () => {
  const url = await postgres.createDatabase(migrated);
  const writer = await openPostgresStore({ url, clock: Date.now });
  const reader = await openPostgresStore({ url, clock: Date.now });
  const input = { text: "ß".repeat(50_000) };
  await writer.executions.create(newExecution(1, { input }));
  const rows = [];
  for (const store of [writer, reader, reader]) {
    const { row } = await store.executions.change(executionId(1), (found) =>
      appending(found, [event("TASK_STARTED", "a")]),
    );
    rows.push(row);
  }
  await writer.close();
  await reader.close();
  expect(rows.map((row) => row.input)).toEqual([input, input, input]);
});

test("text that the database cannot hold is refused by itself, its neighbours are written", async () => {
  const store = await opened(() => open());
  const both = await Promise.allSettled([
    store.executions.create(newExecution(1)),
    store.executions.create(newExecution(2, { name: "nul \u0000" })),
    store.executions.create(newExecution(3, { name: "half \ud800" })),
    store.executions.create(newExecution(4, { input: "nul \u0000 and half \ud800 in JSON" })),
  ]);
  const reason = { code: "invalid_input", message: expect.stringContaining("U+0000") };
  expect(both).toMatchObject([{ status: "fulfilled" }, { reason }, { reason }, {}]);
  expect(await store.executions.find(executionId(4))).toMatchObject({
    input: "nul \u0000 and half \ud800 in JSON",
  });
  await expect(store.sessions.open(newSession("s", { host: "\u0000" }))).rejects.toMatchObject(
    reason,
  );
});

test("lists are read from their partial indexes, in their order", async () => {
  const lists = await import("../ports/queue.ts");
  const { openRuns } = await import("../execution-list.ts");
  const { LIST_CHILDREN_SQL } = await import("./commits/execution-statements.ts");
  const client = new Client({ connectionString: await postgres.createDatabase(migrated) });
  await client.connect();
  onTestFinished(() => client.end());
  // With a table this small the planner would look for no index; the other is the store's setting.
  await client.query("SET enable_seqscan = off; SET enable_bitmapscan = off");
  const planOf = async (text: string, ...values: unknown[]) => {
    const { rows } = await client.query(`EXPLAIN ${text}`, values);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  };
  const plan = (query: Sql) => {
    const { text, values } = rendered(query, "postgres");
    return planOf(text, ...values);
  };
  const after = { execution_id: "e", priority: 0, queued_at: 1 } as QueuedExecution;
  for (const fromEnd of [false, true]) {
    const first = await plan(lists.queued({ limit: 9, fromEnd }));
    expect(first).toMatch(/using executions_queued/);
    expect(first).not.toContain("Sort");
    const behind = await plan(lists.queued({ limit: 9, fromEnd, after }));
    expect(behind.match(/using executions_queued/g)).toHaveLength(2);
    expect(behind.match(/Index Cond.*priority/g)).toHaveLength(2);
    expect(behind).toMatch(/Index Cond.*queued_at/);
  }
  const due = await plan(lists.due({ until: 1, limit: 10 }));
  expect(due).toMatch(/using executions_due/);
  expect(due).not.toContain("Sort");
  const running = await plan(openRuns("s", 5));
  expect(running).toMatch(/Scan Backward using executions_schedule_open/);
  expect(running).not.toContain("Sort");
  expect(await plan(lists.owned("s"))).toMatch(/executions_owned/);
  const orphaned = await plan(lists.orphaned(10));
  expect(orphaned).toMatch(/Index Only Scan using executions_owned/);
  expect(orphaned).toMatch(/using executions_owned.*\n.*Index Cond: \(session = owners\.session\)/);
  expect(orphaned).not.toContain("executions_pkey");
  expect(await plan(lists.queuedAmong(["e"]))).toMatch(/using executions_pkey/);
  expect(await planOf(LIST_CHILDREN_SQL, "p")).toMatch(/executions_children/);
});

test.each([
  ["a wrong password", { password: "wrong-secret" }, "refused the user or the password"],
  ["a database that is not there", { pathname: "/nothing" }, "has no such database"],
  ["a port nobody listens on", { port: "1" }, "cannot be opened: connect ECONNREFUSED"],
])("%s is said in one line that names the place and no password", async (_, wrong, message) => {
  const url = Object.assign(new URL(migrated), wrong);
  const error = await openPostgresStore({ url: url.href, clock: Date.now }).catch((e) => e);
  expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining(message) });
  expect(error.message).toContain(`${url.hostname}:${url.port}${url.pathname}`);
  expect(error.message).not.toContain("\n");
  expect(inspect(error, { depth: null, showHidden: true })).not.toMatch(/-secret/);
});

test("a database that does not store text as UTF-8 is refused", async () => {
  const client = new Client({ connectionString: migrated });
  await client.connect();
  await client.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  await client.end();
  const url = Object.assign(new URL(migrated), { pathname: "/latin" }).href;
  await expect(openPostgresStore({ url, clock: Date.now })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("stores text as LATIN1; make one with ENCODING 'UTF8'"),
  });
});
