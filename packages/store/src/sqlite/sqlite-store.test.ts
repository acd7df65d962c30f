import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { callChild, complete, run, startRunning } from "../conformance/executions/family.ts";
import { identityWrite } from "../conformance/identity.ts";
import { type Open, opened } from "../conformance/opened.ts";
import { appending, event, executionId, newExecution } from "../conformance/sample.ts";
import { storeConformance } from "../conformance.ts";
import type { SessionGuard } from "../ports/executions.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();
let files = 0;

/** What a commit costs whatever is in it. */
const COMMIT = "BEGIN COMMIT".split(" ").length;

const openMemory: Open = (options) =>
  openSqliteStore({ path: ":memory:", synchronous: "full", clock: Date.now, ...options });
/** What a power cut leaves is looked at by the tests of durability: here nobody waits for the disk. */
const openFile: Open = (options) => {
  const path = join(folder, `${++files}.db`);
  return openSqliteStore({ path, synchronous: "normal", clock: Date.now, ...options });
};

storeConformance("SQLite in memory", openMemory);
storeConformance("SQLite file", openFile);

test("a change costs three statements and shares its commit with those asked for meanwhile", async () => {
  const store = await opened(openMemory);
  const ids = [1, 2, 3, 4, 5].map(executionId);
  await Promise.all(ids.map((_, i) => store.executions.create(newExecution(i + 1))));
  // An update's text is prepared at its first use; preparing is not counted.
  const before = store.statementCount();
  await Promise.all(
    ids.map((id) =>
      store.executions.change(id, (row) => appending(row, [event("TASK_STARTED", "a")]), {
        above: 1,
      }),
    ),
  );
  expect(store.statementCount() - before).toBe(COMMIT + 5 * 3);
});

test("DSP-3 EXE-84 a guard costs its change one statement, a unique key its creation", async () => {
  const store = await opened(openMemory);
  const cost = async (ask: () => Promise<unknown>) => {
    const before = store.statementCount();
    await ask();
    return store.statementCount() - before - COMMIT;
  };
  const unique = { key: "k", request_hash: "h" };
  expect(await cost(() => store.executions.create(newExecution(1)))).toBe(2);
  expect(await cost(() => store.executions.create(newExecution(2, { unique })))).toBe(3);
  expect(await cost(() => store.executions.create(newExecution(3, { unique })))).toBe(1);
  const change = (guard?: SessionGuard) =>
    store.executions.change(executionId(1), (row) => appending(row, [event("TASK_STARTED", "a")]), {
      guard,
    });
  expect(await cost(() => change())).toBe(3);
  // Its row, then the session that is not there.
  expect(await cost(() => change({ session: "nobody's", epoch: 1 }))).toBe(2);
});

test("a change of an execution with a large input does not read that input", async () => {
  const store = await opened(openMemory);
  const input = "x".repeat(10_000);
  await store.executions.create(newExecution(1, { input }));
  const before = store.statementCount();
  const { row } = await store.executions.change(executionId(1), (found) =>
    appending(found, [event("TASK_STARTED", "a")]),
  );
  const changed = store.statementCount();
  expect(changed - before).toBe(COMMIT + 3);
  expect(row.input).toBe(input);
  expect(store.statementCount() - changed).toBe(1);
});

test("a child's end costs one row and one segment for each of child and parent", async () => {
  const store = await opened(openMemory);
  const parent = await startRunning(store, 1);
  await callChild(store, parent, 2);
  await run(store, executionId(2));
  // An update's text is prepared at its first use; preparing is not counted.
  const before = store.statementCount();
  await complete(store, executionId(2), "done");
  // The child has an owner: it is known. Its parent, which nobody runs, is read.
  expect(store.statementCount() - before).toBe(COMMIT + 2 + 3);
});

test("a long change is stored in segments of at most a thousand events", async () => {
  const path = join(folder, "segments.db");
  const store = await opened(() => openSqliteStore({ path, synchronous: "full", clock: Date.now }));
  await store.executions.create(newExecution(1));
  const events = Array.from({ length: 2_001 }, (_, i) => event("TASK_STARTED", `a~${i}`));
  await store.executions.change(executionId(1), (row) => appending(row, events));
  const db = new Database(path, { readonly: true });
  const segments = db.prepare("SELECT seq, last_seq FROM segments ORDER BY seq").raw().all();
  db.close();
  expect(segments).toEqual([
    [1, 1],
    [2, 1_001],
    [1_002, 2_001],
    [2_002, 2_002],
  ]);
});

test("the time recorded with an event is the store's clock, one for all of a commit", async () => {
  let now = 1_000;
  const clock = () => now++;
  const store = await opened(() =>
    openSqliteStore({ path: ":memory:", synchronous: "full", clock }),
  );
  const together = await Promise.all([
    store.executions.create(newExecution(1)),
    store.executions.create(newExecution(2)),
  ]);
  const later = await store.executions.create(newExecution(3));
  const [first, second] = together.map(({ recorded_at }) => recorded_at);
  expect(second).toBe(first);
  expect(later.recorded_at).toBe((first ?? 0) + 1);
});

test("AUTH-57 epochs are read once for each change, whoever makes it, and one that is undone counts for none", async () => {
  const path = join(folder, `${++files}.db`);
  const open = () => openSqliteStore({ path, synchronous: "normal", clock: Date.now });
  const [server, command] = [await opened(open), await opened(open)];
  const logins = { api_keys: true, oidc_issuer: null };
  const admin = (id: string) => ({ id, key: { id: `k-${id}`, secret_hash: id }, logins });
  /** What a read answers, and how many statements it takes. */
  const read = async () => {
    const before = server.statementCount();
    const { identity } = await server.epochs.read();
    return [identity, server.statementCount() - before];
  };
  expect([await read(), await read()]).toEqual([
    [0, 1],
    [0, 0],
  ]);
  await server.executions.create(newExecution(1));
  expect(await read()).toEqual([0, 0]);
  await server.identities.makeFirstAdmin(admin("own"));
  expect([await read(), await read()]).toEqual([
    [1, 1],
    [1, 0],
  ]);
  const role = { name: "reader", description: null, permissions: ["hook:*"] };
  await command.roles.create(role, identityWrite("roles.create"));
  expect([await read(), await read()]).toEqual([
    [2, 1],
    [2, 0],
  ]);
  await expect(server.roles.create(role, identityWrite("roles.create"))).rejects.toThrow();
  expect((await read())[0]).toBe(2);
});

test("AUTH-57 a commit sees that another process wrote to the file", async () => {
  const path = join(folder, `${++files}.db`);
  const open = () => openSqliteStore({ path, synchronous: "normal", clock: Date.now });
  const [server, command] = [await opened(open), await opened(open)];
  const logins = { api_keys: true, oidc_issuer: null };
  await server.executions.create(newExecution(1));
  let times = 0;
  server.replicas.onWrittenBeside?.(() => void times++);
  await server.executions.create(newExecution(2));
  expect(times).toBe(0);
  const key = { id: "k", secret_hash: "h" };
  await command.identities.makeFirstAdmin({ id: "p", key, logins });
  await server.executions.create(newExecution(3));
  expect(times).toBe(1);
  expect((await server.epochs.read()).identity).toBe(1);
});
