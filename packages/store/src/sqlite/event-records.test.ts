import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { eventRecordConformance, TABLES } from "../conformance/executions/event-records.ts";
import { openSqliteStore } from "./sqlite-store.ts";

eventRecordConformance(async () => {
  const folder = mkdtempSync(join(tmpdir(), "engine-records-"));
  const path = join(folder, "store.db");
  const db = new Database(path);
  for (const table of TABLES) db.exec(table);
  return {
    open: (records) => openSqliteStore({ path, synchronous: "normal", clock: Date.now, records }),
    async query(sql) {
      const statement = db.prepare<[], Record<string, unknown>>(sql);
      if (statement.reader) return statement.all();
      statement.run();
      return [];
    },
    async close() {
      db.close();
      rmSync(folder, { recursive: true });
    },
  };
});
