import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { readMigrations } from "../migration-files.ts";
import { rendered, type Sql } from "../operations/sql.ts";
import type { QueuedExecution } from "../ports/queue.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();

function open(path: string) {
  return openSqliteStore({ path, synchronous: "full", clock: () => 1, busyTimeoutMs: 30 });
}

async function refusal(path: string, named = path): Promise<{ code: string; message: string }> {
  const error = await open(path).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toMatchObject({ name: "EngineError", code: "unavailable" });
  expect(error.message).toContain(named);
  expect(error.message).not.toContain("\n");
  return error;
}

test("a file that is not a database is refused by name", async () => {
  const path = join(folder, "notes.txt");
  writeFileSync(path, "not a database, but long enough to be read as the header of one".repeat(4));
  expect((await refusal(path)).message).toContain("is not a SQLite database");
});

test("a folder in place of the file is refused by name", async () => {
  expect((await refusal(folder)).message).toContain("cannot be opened");
});

test("a file where a folder should be is refused by name", async () => {
  const path = join(folder, "file");
  writeFileSync(path, "");
  expect((await refusal(join(path, "engine.db"), path)).message).toContain("cannot be made");
});

test("a missing folder of the file is made", async () => {
  const store = await open(join(folder, "new", "home", "engine.db"));
  await expect(store.ping()).resolves.toBeUndefined();
  await store.close();
});

test("a database that another process holds is refused by name", async () => {
  const path = join(folder, "held.db");
  const holder = new Database(path);
  holder.exec("BEGIN EXCLUSIVE");
  expect((await refusal(path)).message).toContain("locked by another process");
  holder.close();
});

test("a database of a newer engine is refused, naming what is missing", async () => {
  const path = join(folder, "newer.db");
  await (await open(path)).close();
  change(path, "INSERT INTO migrations VALUES (9999, '9999-later.sql', 'x', 1)");
  expect((await refusal(path)).message).toMatch(/has migration 9999.*run the newer engine/);
});

test("a database whose migration was another one is refused", async () => {
  const path = join(folder, "other.db");
  await (await open(path)).close();
  change(path, "UPDATE migrations SET checksum = 'x' WHERE number = 1");
  expect((await refusal(path)).message).toContain("0001-foundation.sql differs");
});

test("migrations are recorded once, with the time they were applied", async () => {
  const path = join(folder, "migrated.db");
  await (await open(path)).close();
  await (await openSqliteStore({ path, synchronous: "normal", clock: () => 2 })).close();
  const db = new Database(path);
  const rows = db
    .prepare<[], { name: string; applied_at: number }>("SELECT name, applied_at FROM migrations")
    .all();
  db.close();
  const names = readMigrations("sqlite").map(({ name }) => name);
  expect(names[0]).toBe("0001-foundation.sql");
  expect(rows).toEqual(names.map((name) => ({ name, applied_at: 1 })));
});

test("the database is durable by its own settings: write-ahead log and foreign keys", async () => {
  const path = join(folder, "settings.db");
  await (await open(path)).close();
  const db = new Database(path);
  expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
  db.close();
});

test("lists are read from their partial indexes, in their order", async () => {
  const lists = await import("../ports/queue.ts");
  const { openRuns } = await import("../execution-list.ts");
  const { LIST_CHILDREN_SQL } = await import("./executions.ts");
  const path = join(folder, "plans.db");
  await (await open(path)).close();
  const db = new Database(path);
  const planOf = (text: string, ...values: unknown[]) =>
    db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values)
      .map(({ detail }) => detail);
  const plan = (query: Sql) => {
    const { text, values } = rendered(query, "sqlite");
    return planOf(text, ...values);
  };
  const page = { limit: 10 };
  const after = { execution_id: "e", priority: 0, queued_at: 1 } as QueuedExecution;
  for (const fromEnd of [false, true]) {
    expect(plan(lists.queued({ ...page, fromEnd }))).toEqual([
      "SCAN executions USING INDEX executions_queued",
    ]);
    const behind = plan(lists.queued({ ...page, fromEnd, after }));
    expect(behind.join("\n")).not.toContain("TEMP B-TREE");
    expect(behind.filter((line) => line.includes("executions"))).toEqual([
      expect.stringMatching(
        /^SEARCH .* executions_queued \(priority=\? AND \(queued_at,execution_id/,
      ),
      expect.stringMatching(/^SEARCH executions USING INDEX executions_queued \(priority<\?/),
    ]);
  }
  const found = plan(lists.queuedAmong([]));
  expect(found[0]).toMatch(/^SEARCH executions USING INDEX sqlite_autoindex_executions_1/);
  expect(plan(lists.owned("s"))[0]).toMatch(/^SEARCH executions USING INDEX executions_owned/);
  const orphaned = plan(lists.orphaned(10));
  const hopping = "SEARCH executions USING COVERING INDEX executions_owned (session>?)";
  const owned = "SEARCH owned USING INDEX executions_owned (session=?)";
  expect(orphaned).toEqual(expect.arrayContaining([hopping, owned]));
  expect(orphaned.filter((line) => /^SCAN (?!owners)/.test(line))).toEqual([]);
  // One line: the index's order is the one asked for.
  const due = plan(lists.due({ until: 1, limit: 10 }));
  expect(due).toEqual([
    expect.stringMatching(/^SEARCH .* INDEX executions_due .*wake_at,execution_id.*wake_at</),
  ]);
  const running = plan(openRuns("s", 5));
  expect(running).toEqual([expect.stringMatching(/^SEARCH .* INDEX executions_schedule_open/)]);
  const children = planOf(LIST_CHILDREN_SQL, "p");
  expect(children).toEqual([expect.stringMatching(/^SEARCH .* INDEX executions_children/)]);
  db.close();
});

test("the compiled package finds the migrations among its sources", () => {
  const source = fileURLToPath(new URL("../", import.meta.url));
  const copy = join(folder, "package");
  mkdirSync(copy);
  cpSync(source, join(copy, "src"), { recursive: true });
  cpSync(source, join(copy, "dist"), {
    recursive: true,
    filter: (path) => !path.endsWith("migrations"),
  });
  writeFileSync(join(copy, "package.json"), `{ "type": "module" }`);
  symlinkSync(realpathSync(join(source, "../../../node_modules")), join(copy, "node_modules"));
  const script = `
    const { openStore } = await import("./dist/index.ts");
    const store = await openStore("sqlite::memory:");
    await store.ping();
    console.log(store.kind);`;
  const args = ["--conditions=@engine/source", "--input-type=module", "--eval", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "sqlite\n", stderr: "" });
});

function change(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}
