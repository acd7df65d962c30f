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
