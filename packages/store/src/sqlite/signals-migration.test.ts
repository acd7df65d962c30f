import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import {
  MANY_NAMES,
  OLD_SIGNALS,
  upgradedSignals,
} from "../conformance/executions/upgraded-signals.ts";
import { opened } from "../conformance/opened.ts";
import { executionId } from "../conformance/sample.ts";
import { readMigrations } from "../migration-files.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();

test("EXE-53 an upgrade keeps the signals that nobody had taken, in their order", async () => {
  const path = join(folder, "ninth.db");
  const db = new Database(path);
  db.exec(`CREATE TABLE migrations (
    number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL) STRICT`);
  for (const { number, name, sql, checksum } of readMigrations("sqlite")) {
    if (number > 9) continue;
    db.exec(sql);
    db.prepare("INSERT INTO migrations VALUES (?, ?, ?, 1)").run(number, name, checksum);
  }
  const insert = db.prepare(`INSERT INTO executions (
    execution_id, namespace, workflow, version, module_hash, state, session, last_session,
    generation, head, last_time, resuming, signals, seed, priority, queued_at, created_at,
    updated_at, input_apart
  ) VALUES (?, 'default', 'hello', 1, 'm', 'RUNNING', 's1', 's1', 1, 40, 1, 0, ?, 's', 0, 1, 1, 1, 0)`);
  for (const [i, signals] of [OLD_SIGNALS, MANY_NAMES, null].entries()) {
    insert.run(executionId(i + 1), signals && JSON.stringify(signals));
  }
  db.close();
  const store = await opened(() => openSqliteStore({ path, synchronous: "full", clock: () => 9 }));
  await expect(upgradedSignals(store)).resolves.toBeUndefined();
});
