import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { EngineError } from "@engine/contract";
import type Database from "better-sqlite3";

// The compiler does not copy SQL files; the package ships its sources, and this address means them
// from `src` and from `dist` alike.
const FOLDER = new URL("../../src/migrations/", import.meta.url);

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/**
 * Brings a database up to date: every numbered file that it has not had yet, in one transaction
 * under the write lock, so that two processes that start at once do not both apply them.
 */
export function migrate(db: Database.Database, at: number): void {
  const known = readMigrations();
  db.transaction(() => {
    db.exec(`CREATE TABLE IF NOT EXISTS migrations (
      number     INTEGER NOT NULL PRIMARY KEY,
      name       TEXT    NOT NULL,
      checksum   TEXT    NOT NULL,
      applied_at INTEGER NOT NULL
    ) STRICT`);
    const applied = appliedMigrations(db);
    assertKnown(applied, known);
    const record = db.prepare("INSERT INTO migrations VALUES (?, ?, ?, ?)");
    for (const { number, name, sql, checksum } of known) {
      if (applied.has(number)) continue;
      db.exec(sql);
      record.run(number, name, checksum, at);
    }
  }).immediate();
}

function readMigrations(): readonly Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => /^\d{4}-.+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(new URL(name, FOLDER), "utf8");
      const checksum = createHash("sha256").update(sql).digest("hex");
      return { number: Number(name.slice(0, 4)), name, sql, checksum };
    });
}

function appliedMigrations(db: Database.Database): ReadonlyMap<number, string> {
  const rows = db
    .prepare<[], { number: number; checksum: string }>("SELECT number, checksum FROM migrations")
    .all();
  return new Map(rows.map((row) => [row.number, row.checksum]));
}

function assertKnown(applied: ReadonlyMap<number, string>, known: readonly Migration[]): void {
  for (const [number, checksum] of applied) {
    const migration = known.find((candidate) => candidate.number === number);
    if (!migration) {
      throw new EngineError(
        "unavailable",
        `the database has migration ${number}, this engine knows up to ${known.at(-1)?.number}; run the newer engine that made it`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new EngineError(
        "unavailable",
        `migration ${migration.name} differs from the one this database was made with; reinstall the engine or choose another database`,
      );
    }
  }
}
