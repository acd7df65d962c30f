import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { executionId } from "../conformance/sample.ts";
import { readMigrations } from "../migration-files.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();
const ROWS = 50;
const BEFORE = 19;

interface Column {
  readonly name: string;
  readonly type: string;
}

/** A database as it was before, in which each column of each row holds something of its own. */
function filled(path: string): Database.Database {
  const db = new Database(path);
  db.exec(`CREATE TABLE migrations (
    number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL) STRICT`);
  for (const { number, name, sql, checksum } of readMigrations("sqlite")) {
    if (number >= BEFORE) continue;
    db.exec(sql);
    db.prepare("INSERT INTO migrations VALUES (?, ?, ?, 1)").run(number, name, checksum);
  }
  const columns = db.pragma("table_info(executions)") as Column[];
  const holes = columns.map(() => "?").join(", ");
  const insert = db.prepare(`INSERT INTO executions VALUES (${holes})`);
  for (let n = 1; n <= ROWS; n++) {
    insert.run(
      columns.map(({ name, type }, i) => {
        if (name === "execution_id") return executionId(n);
        if (name === "state") return "CREATED";
        if (name === "input_apart") return 0;
        return type === "INTEGER" ? n * 100 + i : `"${name} ${n}"`;
      }),
    );
  }
  return db;
}

test("RIN-3 an upgrade keeps every row of executions as it was, without routing input", async () => {
  const path = join(folder, "before.db");
  const before = filled(path);
  const rows = before.prepare("SELECT * FROM executions ORDER BY rowid").all();
  before.close();
  const store = await opened(() => openSqliteStore({ path, synchronous: "full", clock: () => 9 }));
  expect(await store.executions.find(executionId(7))).toMatchObject({
    ...{ execution_id: executionId(7), namespace: '"namespace 7"', routing_input: null },
    ...{ input: "input 7", output: "output 7" },
  });
  const db = new Database(path, { readonly: true });
  const after = db.prepare("SELECT * FROM executions ORDER BY rowid").all();
  db.close();
  expect(after).toHaveLength(ROWS);
  expect(after).toMatchObject(rows.map((row) => ({ ...(row as object), routing_input: null })));
});
