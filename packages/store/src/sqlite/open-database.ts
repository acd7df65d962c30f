import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EngineError } from "@engine/contract";
import Database from "better-sqlite3";
import { makeFolder } from "../make-folder.ts";

export interface DatabaseOptions {
  /** A file, made where there is none, or `:memory:`. */
  readonly path: string;
  /** `full` survives a power loss; `normal` may then lose the last commits, never on a crash. */
  readonly synchronous: "full" | "normal";
  /** How long to wait for another process that writes. */
  readonly busyTimeoutMs?: number | undefined;
}

export const BUSY_TIMEOUT_MS = 5_000;
const RETRY_MS = 25;
/**
 * Kibibytes of pages. A commit that has split pages looks through all that are cached, so more of
 * them cost every commit; what is not among them the system has in memory.
 */
const CACHE_KIB = 4_000;

/** Opens a database file and prepares it, or says in one line why not. */
export async function openDatabase(
  options: DatabaseOptions,
  prepare: (db: Database.Database) => void,
): Promise<Database.Database> {
  const { path, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  if (path !== ":memory:") makeFolder(dirname(path));
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    let db: Database.Database | undefined;
    try {
      db = new Database(path, { timeout: busyTimeoutMs });
      // When two processes make the file at once, SQLite answers "busy" to one of them without
      // waiting, since each holds what the other waits for: hence the loop.
      db.pragma("journal_mode = WAL");
      db.pragma(`synchronous = ${options.synchronous}`);
      db.pragma("foreign_keys = ON");
      db.pragma(`cache_size = -${CACHE_KIB}`);
      prepare(db);
      return db;
    } catch (error) {
      db?.close();
      if (!isBusy(error) || performance.now() >= deadline) throw openingFailure(path, error);
      await delay(RETRY_MS);
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

function openingFailure(path: string, cause: unknown): EngineError {
  if (cause instanceof EngineError) {
    return new EngineError(cause.code, `${path}: ${cause.message}`, { cause });
  }
  const code = cause instanceof Database.SqliteError ? cause.code : "";
  if (code === "SQLITE_NOTADB") {
    const message = `${path} is not a SQLite database; choose another file`;
    return new EngineError("unavailable", message, { cause });
  }
  if (isBusy(cause)) {
    const message = `the database ${path} is locked by another process; stop it or choose another file`;
    return new EngineError("unavailable", message, { cause });
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new EngineError("unavailable", `the database ${path} cannot be opened: ${reason}`, {
    cause,
  });
}
