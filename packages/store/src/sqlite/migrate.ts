import type Database from "better-sqlite3";
import { migrated, migrating } from "../failpoints.ts";
import { type AppliedMigration, pendingMigrations, readMigrations } from "../migration-files.ts";

/**
 * Brings a database up to date: every numbered file that it has not had yet, in one transaction
 * under the write lock, so that two processes that start at once do not both apply them.
 */
export function migrate(db: Database.Database, at: number): void {
  const known = readMigrations("sqlite");
  db.transaction(() => {
    db.exec(`CREATE TABLE IF NOT EXISTS migrations (
      number     INTEGER NOT NULL PRIMARY KEY,
      name       TEXT    NOT NULL,
      checksum   TEXT    NOT NULL,
      applied_at INTEGER NOT NULL
    ) STRICT`);
    const record = db.prepare("INSERT INTO migrations VALUES (?, ?, ?, ?)");
    for (const { number, name, sql, checksum } of pendingMigrations(appliedMigrations(db), known)) {
      db.exec(sql);
      record.run(number, name, checksum, at);
      if (migrating.hasSubscribers) migrating.publish({ of: [] });
    }
  }).immediate();
  if (migrated.hasSubscribers) migrated.publish({ of: [] });
}

export function appliedMigrations(db: Database.Database): readonly AppliedMigration[] {
  return db
    .prepare<[], AppliedMigration>(
      "SELECT number, name, checksum, applied_at FROM migrations ORDER BY number",
    )
    .all();
}
