import { existsSync } from "node:fs";
import { EngineError } from "@engine/contract";
import Database from "better-sqlite3";
import { parseDatabaseUrl } from "./database-url.ts";
import {
  type AppliedMigration,
  compareMigrations,
  type MigrationStatus,
  readMigrations,
} from "./migration-files.ts";
import { openStore, type StoreOptions } from "./open-store.ts";
import { readAppliedMigrations } from "./postgres/migrate.ts";
import { appliedMigrations } from "./sqlite/migrate.ts";

/**
 * What a database has had of this engine's migrations, without changing anything. Opening its store
 * is what applies the pending ones.
 *
 * @throws EngineError `invalid_input` for a URL that names no database, `unavailable` for one that
 * cannot be read.
 */
export async function migrationStatus(url: string): Promise<readonly MigrationStatus[]> {
  const address = parseDatabaseUrl(url);
  return address.kind === "sqlite"
    ? compareMigrations(ofFile(address.path), readMigrations("sqlite"))
    : compareMigrations(await readAppliedMigrations(address.target), readMigrations("postgres"));
}

/**
 * Brings a database up to date ahead of the servers that use it, which would do so themselves.
 *
 * @returns What it has not had before.
 * @throws EngineError As opening its store does.
 */
export async function upgradeDatabase(
  url: string,
  options: Pick<StoreOptions, "clock"> = {},
): Promise<readonly MigrationStatus[]> {
  const before = await migrationStatus(url);
  const store = await openStore(url, options);
  await store.close();
  const had = new Set(before.filter(({ applied_at }) => applied_at !== null).map((m) => m.number));
  return (await migrationStatus(url)).filter(({ number }) => !had.has(number));
}

function ofFile(path: string): readonly AppliedMigration[] {
  // Opening would make the file.
  if (!existsSync(path)) return [];
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { readonly: true });
    const has = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
    return has ? appliedMigrations(db) : [];
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError("unavailable", `the database ${path} cannot be read: ${reason}`, {
      cause,
    });
  } finally {
    db?.close();
  }
}
