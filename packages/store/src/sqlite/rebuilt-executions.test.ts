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

const NO_HOOK = { hook_name: null, hook_delivery_id: null, hook_hop: null };

interface Column {
  readonly name: string;
  readonly type: string;
}

/** A database as it was before a migration, in which each column of each row holds something of its own. */
function filled(path: string, migration: number): Database.Database {
  const db = new Database(path);
  db.exec(`CREATE TABLE migrations (
    number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL) STRICT`);
  for (const { number, name, sql, checksum } of readMigrations("sqlite")) {
    if (number >= migration) continue;
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

test.each([
  ["RIN-3", 19, "without routing input", { routing_input: null, ...NO_HOOK }],
  ["HOOK-33", 21, "with no hook behind it", NO_HOOK],
] as const)(
  "%s an upgrade from before migration %i keeps every row of executions as it was, %s",
  async (_, migration, __, added) => {
    const path = join(folder, `before-${migration}.db`);
    const before = filled(path, migration);
    const rows = before.prepare("SELECT * FROM executions ORDER BY rowid").all();
    before.close();
    const store = await opened(() =>
      openSqliteStore({ path, synchronous: "full", clock: () => 9 }),
    );
    expect(await store.executions.find(executionId(7))).toMatchObject({
      ...{ execution_id: executionId(7), namespace: '"namespace 7"', hook: null },
      ...{ input: "input 7", output: "output 7" },
    });
    const db = new Database(path, { readonly: true });
    const after = db.prepare("SELECT * FROM executions ORDER BY rowid").all();
    const indexes = db
      .prepare("SELECT count(*) FROM pragma_index_list('executions')")
      .pluck()
      .get();
    db.close();
    expect(after).toHaveLength(ROWS);
    expect(after).toEqual(rows.map((row) => ({ ...(row as object), ...added })));
    expect(indexes).toBe(12);
  },
);
