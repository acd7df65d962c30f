import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, expect, test } from "vitest";
import { newExecution } from "../conformance/sample.ts";
import { readMigrations } from "../migration-files.ts";
import { migrationStatus } from "../migration-status.ts";
import type { Dialect } from "../operations/sql.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const folder = temporaryFolder();
const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const namesOf = (dialect: Dialect) => readMigrations(dialect).map(({ name }) => name);
const OURS = namesOf("postgres");

async function query(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test("both stores are at the same numbered migration", () => {
  const number = (name: string | undefined) => name?.slice(0, 4);
  const theirs = namesOf("sqlite").filter((name) => name >= "0005");
  expect(OURS.slice(1).map(number)).toEqual(theirs.map(number));
  expect(OURS[0]).toBe("0004-foundation.sql");
});

test("replicas that start at once on an empty database all get it, migrated once", async () => {
  const url = await postgres.createDatabase();
  const stores = await Promise.all(
    [1, 2, 3, 4].map((at) => openPostgresStore({ url, clock: () => at })),
  );
  await Promise.all(stores.map((store, n) => store.executions.create(newExecution(n))));
  await Promise.all(stores.map((store) => store.close()));
  const rows = await query(url, "SELECT name, applied_at::int FROM migrations ORDER BY number");
  expect(rows).toEqual(OURS.map((name) => ({ name, applied_at: expect.any(Number) })));
  expect(new Set(rows.map((row) => (row as { applied_at: number }).applied_at)).size).toBe(1);
});

test("a database of a newer engine, or of another one, is refused by its place", async () => {
  const url = await postgres.createDatabase();
  const open = () => openPostgresStore({ url, clock: () => 7 });
  await (await open()).close();
  await query(url, "INSERT INTO migrations VALUES (9999, '9999-later.sql', 'x', 1)");
  await expect(open()).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/^127.*test_\d+: .*has migration 9999.*run the newer engine/),
  });
  const change = "UPDATE migrations SET checksum = 'x' WHERE number = 4";
  await query(url, `DELETE FROM migrations WHERE number = 9999; ${change}`);
  await expect(open()).rejects.toMatchObject({
    message: expect.stringContaining("0004-foundation.sql differs"),
  });
});

test("a migration that fails leaves the database as it was", async () => {
  const url = await postgres.createDatabase();
  await query(url, "CREATE TABLE task_cache (of_somebody_else TEXT)");
  await expect(openPostgresStore({ url, clock: () => 1 })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining('relation "task_cache" already exists'),
  });
  const tables = await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  expect(tables).toEqual([{ tablename: "task_cache" }]);
});

test("the status of a database says what is applied, pending, changed or of a newer engine", async () => {
  const url = await postgres.createDatabase();
  const pending = { status: "pending", applied_at: null };
  expect(await migrationStatus(url)).toEqual(
    OURS.map((name) => ({ number: Number(name.slice(0, 4)), name, ...pending })),
  );
  await (await openPostgresStore({ url, clock: () => 7 })).close();
  const applied = { status: "applied", applied_at: 7 };
  expect(await migrationStatus(url)).toMatchObject(OURS.map((name) => ({ name, ...applied })));
  await query(url, "INSERT INTO migrations VALUES (9999, '9999-later.sql', 'x', 8)");
  await query(url, "UPDATE migrations SET checksum = 'x' WHERE number = 4");
  const status = await migrationStatus(url);
  expect(status[0]).toMatchObject({ number: 4, status: "changed" });
  expect(status.at(-1)).toEqual({
    number: 9999,
    name: "9999-later.sql",
    status: "unknown",
    applied_at: 8,
  });
});

test("the status of a SQLite file is read without making or changing it", async () => {
  const path = join(folder, "engine.db");
  const names = namesOf("sqlite");
  const before = await migrationStatus(`sqlite:${path}`);
  expect(before).toMatchObject(names.map((name) => ({ name, status: "pending" })));
  expect(readdirSync(folder)).toEqual([]);
  await (await openSqliteStore({ path, synchronous: "full", clock: () => 9 })).close();
  const after = await migrationStatus(`sqlite:${path}`);
  expect(after).toMatchObject(names.map((name) => ({ name, status: "applied", applied_at: 9 })));
});
