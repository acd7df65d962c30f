/**
 * The numbered SQL files that make a database, read from the package. The compiler does not copy
 * them: the package ships its sources, and their addresses mean those from `src` and `dist` alike.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { EngineError } from "@engine/contract";

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** A migration as a database has it. */
export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  /** Milliseconds since 1970. */
  readonly applied_at: number;
}

export function readMigrations(folder: URL): readonly Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}-.+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(new URL(name, folder), "utf8");
      const checksum = createHash("sha256").update(sql).digest("hex");
      return { number: Number(name.slice(0, 4)), name, sql, checksum };
    });
}

/** @throws EngineError `unavailable` for a database of a newer engine, or of another one. */
export function assertKnown(
  applied: readonly Pick<AppliedMigration, "number" | "checksum">[],
  known: readonly Migration[],
): void {
  for (const { number, checksum } of applied) {
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

/** One line of a database's history. */
export interface MigrationStatus {
  readonly number: number;
  readonly name: string;
  /** `unknown`: of a newer engine; `changed`: the file differs from what was applied. */
  readonly status: "applied" | "pending" | "unknown" | "changed";
  /** Milliseconds since 1970; null while it is pending. */
  readonly applied_at: number | null;
}

/** What the engine knows beside what a database has, by number. */
export function compareMigrations(
  applied: readonly AppliedMigration[],
  known: readonly Migration[],
): readonly MigrationStatus[] {
  const had = new Map(applied.map((one) => [one.number, one]));
  const ours = known.map(({ number, name, checksum }): MigrationStatus => {
    const one = had.get(number);
    if (!one) return { number, name, status: "pending", applied_at: null };
    const status = one.checksum === checksum ? "applied" : "changed";
    return { number, name, status, applied_at: one.applied_at };
  });
  const numbers = new Set(known.map(({ number }) => number));
  const theirs = applied
    .filter(({ number }) => !numbers.has(number))
    .map(({ number, name, applied_at }): MigrationStatus => {
      return { number, name, status: "unknown", applied_at };
    });
  return [...ours, ...theirs].sort((a, b) => a.number - b.number);
}
