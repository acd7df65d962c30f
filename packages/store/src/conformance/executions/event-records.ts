import { expect, onTestFinished, test } from "vitest";
import type { EventRecords } from "../../event-records.ts";
import type { Store } from "../../store.ts";
import { appending, event, executionId, NOW, newExecution, newSession } from "../sample.ts";
import { callChild, complete, run, startRunning } from "./family.ts";

/** A database with the tables of {@link TABLES}, open to the test as well. */
export interface RecordedDatabase {
  open(records: readonly EventRecords[]): Promise<Store>;
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): Promise<void>;
}

/** What was told of events, and the types of those that are to be told of. */
export const TABLES: readonly string[] = [
  "CREATE TABLE told (event_key TEXT NOT NULL PRIMARY KEY, type TEXT NOT NULL, at BIGINT NOT NULL)",
  "CREATE TABLE wanted (type TEXT NOT NULL PRIMARY KEY)",
];

const TOLD: EventRecords = {
  columns: { event_key: "text", type: "text", at: "bigint" },
  of: ({ row, events, recorded_at }) =>
    events.map(({ seq, type, name }) => {
      if (name === "unspeakable") throw new Error("this cannot be told");
      return { event_key: `${row.execution_id}:${seq}`, type, at: recorded_at };
    }),
  insert: `
    INSERT INTO told (event_key, type, at)
    SELECT r.event_key, r.type, r.at FROM records AS r JOIN wanted ON wanted.type = r.type
    WHERE true ON CONFLICT DO NOTHING`,
};

const WANTED = ["WORKFLOW_CREATED", "WORKFLOW_CLAIMED", "TASK_STARTED", "TASK_COMPLETED"];

/** What every store must do with rows that belong to events. `begin` gives an empty database. */
export function eventRecordConformance(begin: () => Promise<RecordedDatabase>): void {
  async function opened(records: readonly EventRecords[] = [TOLD]) {
    const database = await begin();
    onTestFinished(() => database.close());
    const store = await database.open(records);
    onTestFinished(() => store.close());
    await database.query(`INSERT INTO wanted VALUES ${WANTED.map((t) => `('${t}')`).join(", ")}`);
    const keys = async () => {
      const told = await database.query("SELECT event_key FROM told ORDER BY event_key");
      return told.map((row) => row["event_key"]);
    };
    return { store, database, keys };
  }

  test("every event that is wanted has its row, however it came into the log", async () => {
    const { store, keys } = await opened();
    await store.executions.create(newExecution(1));
    await store.executions.create(newExecution(2), { ...(await claimant(store)), now: NOW });
    for (const id of ["a", "b"]) await add(store, 2, id);
    const parent = await startRunning(store, 3);
    await callChild(store, parent, 4);
    await run(store, executionId(4));
    await complete(store, executionId(4), "done");
    const expected: string[] = [];
    for (const n of [1, 2, 3, 4]) {
      for (const { event: one } of await store.log.read(executionId(n))) {
        if (WANTED.includes(one.type)) expected.push(`${executionId(n)}:${one.seq}`);
      }
    }
    expect(expected.length).toBeGreaterThan(8);
    expect(await keys()).toEqual(expected.toSorted());
  });

  test("many changes of one commit have their rows each", async () => {
    const { store, keys } = await opened();
    const ids = [1, 2, 3, 4, 5, 6];
    await Promise.all(ids.map((n) => store.executions.create(newExecution(n))));
    await Promise.all(ids.flatMap((n) => ["a", "b", "c"].map((id) => add(store, n, id))));
    expect(await keys()).toEqual(
      ids.flatMap((n) => [1, 2, 3, 4].map((seq) => `${executionId(n)}:${seq}`)),
    );
  });

  test("what is refused, or changes nothing, leaves no row", async () => {
    const { store, keys } = await opened();
    const by = await claimant(store);
    await store.executions.create(newExecution(1), { ...by, now: NOW });
    const before = await keys();
    const id = executionId(1);
    await expect(store.executions.create(newExecution(1))).rejects.toMatchObject({
      code: "conflict",
    });
    const refused = store.executions.change(id, () => {
      throw new Error("no");
    });
    await expect(refused).rejects.toThrow("no");
    const guard = { session: by.session, epoch: by.epoch + 1 };
    await store.executions.change(id, (row) => appending(row, [started("x")]), { guard });
    await store.executions.change(id, () => undefined);
    expect(await keys()).toEqual(before);
  });

  test("a creation whose claim does not hold has the rows of what was written", async () => {
    const { store, keys } = await opened();
    const by = await claimant(store);
    await store.executions.create(newExecution(1), { ...by, epoch: by.epoch + 1, now: NOW });
    expect(await keys()).toEqual([`${executionId(1)}:1`]);
  });

  test("a row that cannot be made refuses its change, and no other of the same commit", async () => {
    const { store, keys } = await opened();
    await store.executions.create(newExecution(1));
    await store.executions.create(newExecution(2));
    const unspeakable = { ...started("x"), name: "unspeakable" };
    const [first, second] = await Promise.allSettled([
      store.executions.change(executionId(1), (row) => appending(row, [unspeakable])),
      add(store, 2, "a"),
    ]);
    expect([first.status, second.status]).toEqual(["rejected", "fulfilled"]);
    expect((await store.executions.find(executionId(1)))?.head).toBe(1);
    expect(await keys()).toEqual([
      `${executionId(1)}:1`,
      `${executionId(2)}:1`,
      `${executionId(2)}:2`,
    ]);
  });

  test("a row that is there already is passed over", async () => {
    const { store, database } = await opened();
    await store.executions.create(newExecution(1), { ...(await claimant(store)), now: NOW });
    const id = executionId(1);
    await database.query(`INSERT INTO told VALUES ('${id}:3', 'earlier', 0)`);
    await add(store, 1, "a");
    expect((await store.executions.find(id))?.head).toBe(3);
    const [row] = await database.query(`SELECT type FROM told WHERE event_key = '${id}:3'`);
    expect(row).toEqual({ type: "earlier" });
  });

  test("what a row is joined to counts as it is in the transaction", async () => {
    const { store, database, keys } = await opened();
    await store.executions.create(newExecution(1), { ...(await claimant(store)), now: NOW });
    await database.query("DELETE FROM wanted WHERE type = 'TASK_STARTED'");
    await add(store, 1, "a");
    expect(await keys()).toEqual([`${executionId(1)}:1`, `${executionId(1)}:2`]);
  });

  test("several kinds of rows are written of one change", async () => {
    const second: EventRecords = {
      columns: { type: "text", head: "integer" },
      of: ({ stored, events }) => events.map(({ type }) => ({ type, head: stored?.head ?? 0 })),
      insert:
        "INSERT INTO wanted (type) SELECT 'head ' || head FROM records WHERE head > 1 ON CONFLICT DO NOTHING",
    };
    const { store, database, keys } = await opened([second, TOLD]);
    await store.executions.create(newExecution(1), { ...(await claimant(store)), now: NOW });
    await add(store, 1, "a");
    expect(await keys()).toHaveLength(3);
    expect(await database.query("SELECT type FROM wanted WHERE type LIKE 'head%'")).toEqual([
      { type: "head 2" },
    ]);
  });
}

const started = (id: string) => event("TASK_STARTED", id);

function add(store: Store, n: number, id: string): Promise<unknown> {
  return store.executions.change(executionId(n), (row) => appending(row, [started(id)]));
}

/** A session that may claim. */
async function claimant(store: Store): Promise<{ worker: string; session: string; epoch: number }> {
  await store.sessions.open(newSession("s1", { worker: "w" }));
  const connected = await store.sessions.connect("s1", "replica");
  return { worker: "w", session: "s1", epoch: connected?.epoch ?? -1 };
}
