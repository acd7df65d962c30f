/**
 * The numbered SQL files that make a database, read from the package. The compiler does not copy
 * them: the package ships its sources, and their addresses mean those from `src` and `dist` alike.
 *
 * One in `migrations/` is for both databases. Each gets what stands before the first mark, and what
 * stands behind its own: a line `-- sqlite` or `-- postgres`. The older ones lie with their database.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { EngineError } from "@engine/contract";
import type { Dialect } from "./operations/sql.ts";

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

/** The migrations of a database, by number. */
export function readMigrations(dialect: Dialect): readonly Migration[] {
  const folders = [`../src/${dialect}/migrations/`, "../src/migrations/"];
  return folders
    .flatMap((path) => {
      const folder = new URL(path, import.meta.url);
      const names = readdirSync(folder).filter((name) => /^\d{4}-.+\.sql$/.test(name));
      return names.map((name) => {
        const sql = partOf(readFileSync(new URL(name, folder), "utf8"), dialect);
        const checksum = createHash("sha256").update(sql).digest("hex");
        return { number: Number(name.slice(0, 4)), name, sql, checksum };
      });
    })
    .sort((a, b) => a.number - b.number);
}

function partOf(text: string, dialect: Dialect): string {
  const [both = "", ...marked] = text.split(/^-- (sqlite|postgres)\n/m);
  return both + marked.filter((_, i) => marked[i - 1] === dialect).join("");
}

/**
 * The migrations that a database has not had yet.
 *
 * @throws EngineError `unavailable` for a database of a newer engine, or of another one.
 */
export function pendingMigrations(
  applied: readonly AppliedMigration[],
  known: readonly Migration[],
): readonly Migration[] {
  for (const { number, name, status } of compareMigrations(applied, known)) {
    if (status === "unknown") {
      throw new EngineError(
        "unavailable",
        `the database has migration ${number}, this engine knows up to ${known.at(-1)?.number}; run the newer engine that made it`,
      );
    }
    if (status === "changed") {
      throw new EngineError(
        "unavailable",
        `migration ${name} differs from the one this database was made with; reinstall the engine or choose another database`,
      );
    }
  }
  const had = new Set(applied.map(({ number }) => number));
  return known.filter(({ number }) => !had.has(number));
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
