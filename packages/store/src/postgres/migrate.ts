import { EngineError } from "@engine/contract";
import { Client, types } from "pg";
import { migrated, migrating } from "../failpoints.ts";
import { type AppliedMigration, pendingMigrations, readMigrations } from "../migration-files.ts";
import { openingFailure } from "./opening-failure.ts";
import type { PostgresTarget } from "./postgres-url.ts";

/**
 * Brings a database up to date: every numbered file that it has not had yet, in one transaction
 * under a lock, so that of replicas that start at once one applies them and the others wait.
 *
 * @returns The type of each column of `executions`.
 */
export function migrate(target: PostgresTarget, at: number): Promise<ReadonlyMap<string, string>> {
  return connected(target, async (client) => {
    await assertUtf8(client);
    const known = readMigrations("postgres");
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('engine migrations', 0))");
    await client.query(`CREATE TABLE IF NOT EXISTS migrations (
      number     INTEGER NOT NULL PRIMARY KEY,
      name       TEXT    NOT NULL,
      checksum   TEXT    NOT NULL,
      applied_at BIGINT  NOT NULL
    )`);
    const pending = pendingMigrations(await appliedMigrations(client), known);
    for (const { number, name, sql, checksum } of pending) {
      await client.query(sql);
      const values = [number, name, checksum, at];
      await client.query("INSERT INTO migrations VALUES ($1, $2, $3, $4)", values);
      if (migrating.hasSubscribers) migrating.publish({ of: [] });
    }
    await client.query("COMMIT");
    if (migrated.hasSubscribers) migrated.publish({ of: [] });
    const { rows } = await client.query<{ column: string; type: string }>(`
      SELECT attname AS column, format_type(atttypid, atttypmod) AS type FROM pg_attribute
      WHERE attrelid = 'executions'::regclass AND attnum > 0 AND NOT attisdropped`);
    return new Map(rows.map(({ column, type }) => [column, type]));
  });
}

/** What a database has had; nothing where there is no engine in it yet. */
export function readAppliedMigrations(
  target: PostgresTarget,
): Promise<readonly AppliedMigration[]> {
  return connected(target, async (client) => {
    const { rows } = await client.query("SELECT to_regclass('migrations') IS NOT NULL AS has");
    return rows[0].has ? appliedMigrations(client) : [];
  });
}

async function appliedMigrations(client: Client): Promise<readonly AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    "SELECT number, name, checksum, applied_at FROM migrations ORDER BY number",
  );
  return rows.map((row) => ({ ...row, applied_at: Number(row.applied_at) }));
}

async function assertUtf8(client: Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>("SHOW server_encoding");
  const encoding = rows[0]?.server_encoding;
  if (encoding === "UTF8") return;
  const message = `the database stores text as ${encoding}; make one with ENCODING 'UTF8'`;
  throw new EngineError("unavailable", message);
}

/** A connection of its own: a migration may take longer than any other statement is allowed to. */
async function connected<Value>(
  target: PostgresTarget,
  use: (client: Client) => Promise<Value>,
): Promise<Value> {
  const client = new Client({
    connectionString: target.url,
    application_name: "engine migrations",
    connectionTimeoutMillis: 10_000,
    types,
  });
  // A query that waits for its answer rejects; without a listener the process would end.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await use(client);
  } catch (error) {
    throw openingFailure(target, error);
  } finally {
    // Also after a failure: the server undoes what was begun.
    await client.end().catch(() => undefined);
  }
}
