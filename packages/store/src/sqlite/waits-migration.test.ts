import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NO_SIGNALS } from "@engine/contract";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { appending, event, executionId } from "../conformance/sample.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();

/** A database as the engine left it whose only migration was the first. */
function firstDatabase(path: string): void {
  const db = new Database(path);
  const sql = readFileSync(new URL("./migrations/0001-foundation.sql", import.meta.url), "utf8");
  db.exec(`CREATE TABLE migrations (
    number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL) STRICT`);
  db.exec(sql);
  const checksum = createHash("sha256").update(sql).digest("hex");
  db.prepare("INSERT INTO migrations VALUES (1, '0001-foundation.sql', ?, 1)").run(checksum);
  const insert = db.prepare(`INSERT INTO executions VALUES (
    ?, 'default', 'hello', 1, 'module-1', 'label', ?, ?, NULL, ?, 'w0', 's0', 3, 2, 5, 0, ?, 7, 4,
    NULL, NULL, 1, 2, NULL, 6, ?, ?, ?)`);
  const failure = '{"message":"no"}';
  const wait = '[{"kind":"pause","task_call_id":"a","name":"ok?","output":null,"since":5}]';
  insert.run(executionId(1), "RUNNING", null, "s1", null, 0, '{"n":1}', null);
  insert.run(executionId(2), "PAUSED", null, null, wait, 1, null, null);
  insert.run(executionId(3), "FAILED", failure, null, null, 0, null, '"out"');
  insert.run(executionId(4), "CREATED", null, null, null, 0, null, null);
  db.prepare("INSERT INTO execution_inputs VALUES (?, ?)").run(executionId(2), '"long"');
  db.prepare("INSERT INTO segments VALUES (?, 1, 2, 5, ?)").run(
    executionId(1),
    JSON.stringify([event("WORKFLOW_CREATED", executionId(1)), event("TASK_STARTED", "a")]),
  );
  db.close();
}

test("EXE-22 executions from before waits were kept have nothing due and go on as they were", async () => {
  const path = join(folder, "first.db");
  firstDatabase(path);
  const store = await opened(() => openSqliteStore({ path, synchronous: "full", clock: () => 9 }));
  const rows = await Promise.all([1, 2, 3, 4].map((n) => store.executions.find(executionId(n))));
  for (const [i, row] of rows.entries()) {
    expect(row).toMatchObject({
      ...{ execution_id: executionId(i + 1), namespace: "default", workflow: "hello", version: 1 },
      ...{ module_hash: "module-1", name: "label", worker: null, last_worker: "w0" },
      ...{ last_session: "s0", generation: 3, head: 2, last_time: 5, resuming: false },
      ...{ priority: 7, queued_at: 4, parent_id: null, parent_call_id: null },
      ...{ created_at: 1, started_at: 2, finished_at: null, updated_at: 6 },
      ...{ signals: NO_SIGNALS, watchers: [], wake_at: null, timeout_ms: null, cancelling: null },
      ...{ seed: executionId(i + 1), transient: false, detached: false, depth: 0 },
      ...{ requirements: null, losses: [], outcome_generation: 0, not_before: null },
      ...{ park_ttl_ms: null, park_by: null, unique_key: null, request_hash: null },
      ...{ schedule: null, scheduled_for: null, forked_from: null, routing_input: null },
    });
  }
  expect(rows).toMatchObject([
    { state: "RUNNING", session: "s1", input: { n: 1 }, output: null, waits: [] },
    { state: "PAUSED", session: null, input: "long", waits: [{ name: "ok?", since: 5 }] },
    { state: "FAILED", failure: { message: "no" }, input: null, output: "out" },
    { state: "CREATED", failure: null },
  ]);
  expect(await store.queue.listOwned("s1")).toMatchObject([{ execution_id: executionId(1) }]);
  expect(await store.queue.list({ limit: 9 })).toMatchObject([{ execution_id: executionId(4) }]);
  expect(await store.queue.listDue({ until: 1e15, limit: 9 })).toEqual([]);
  const changed = await store.executions.change(executionId(1), (row) =>
    appending(row, [event("TASK_COMPLETED", "a")]),
  );
  expect(changed.events).toMatchObject([{ seq: 3 }]);
  expect(await store.log.read(executionId(1))).toHaveLength(3);
});

test("the values of an execution are its last columns, behind which nothing has to be read", async () => {
  const path = join(folder, "columns.db");
  await (await openSqliteStore({ path, synchronous: "full", clock: () => 9 })).close();
  const db = new Database(path);
  const columns = db.pragma("table_info(executions)") as { name: string }[];
  db.close();
  expect(columns.slice(-2).map(({ name }) => name)).toEqual(["input", "output"]);
});
