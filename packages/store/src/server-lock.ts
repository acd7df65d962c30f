import { join } from "node:path";
import { EngineError } from "@engine/contract";
import Database from "better-sqlite3";
import { parseDatabaseUrl } from "./database-url.ts";
import { makeFolder } from "./make-folder.ts";

/** Held by the one server of a home folder. */
export interface ServerLock {
  release(): void;
}

/**
 * Takes a home folder for one server; not with a PostgreSQL database, which any number of servers
 * share. The lock is an exclusive transaction on a SQLite file, so the operating system frees it with
 * the process, however that ends: no stale file to clean up.
 *
 * @throws EngineError `conflict` while another server holds it, `unavailable` when it cannot be made.
 */
export function lockServer(home: string, databaseUrl?: string): ServerLock {
  if (databaseUrl !== undefined && parseDatabaseUrl(databaseUrl).kind === "postgres") {
    return { release: () => undefined };
  }
  makeFolder(home);
  const path = join(home, "server.lock");
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { timeout: 0 });
    db.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    db?.close();
    if (cause instanceof Database.SqliteError && cause.code.startsWith("SQLITE_BUSY")) {
      const message = `another server runs on ${path}; stop it or choose another ENGINE_HOME`;
      throw new EngineError("conflict", message, { cause });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError("unavailable", `${path} cannot be locked: ${reason}`, { cause });
  }
  const held = db;
  // Closing rolls back and unlocks; closing again does nothing.
  return { release: () => void held.close() };
}
