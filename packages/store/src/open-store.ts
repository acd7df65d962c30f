import { parseDatabaseUrl } from "./database-url.ts";
import type { EventRecords } from "./event-records.ts";
import { publishWrites } from "./failpoints.ts";
import type { OutboxOptions } from "./hooks/outbox.ts";
import { openPostgresStore } from "./postgres/postgres-store.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

export interface StoreOptions {
  /** SQLite only; see `store.synchronous` of the configuration. */
  readonly synchronous?: "full" | "normal" | undefined;
  /** Milliseconds since 1970; the system's clock unless given. */
  readonly clock?: (() => number) | undefined;
  /** Rows that are written with events; none unless given. */
  readonly records?: readonly EventRecords[] | undefined;
  /** How events are matched with hooks; not at all unless given. */
  readonly hooks?: OutboxOptions | undefined;
  /** Told in one line what an operator should know of the database while it is used. */
  readonly warn?: ((message: string) => void) | undefined;
}

/**
 * Opens the store a database URL names: `sqlite:<path>`, `sqlite::memory:`, or
 * `postgres://user:password@host:port/database`.
 *
 * @throws EngineError `invalid_input` for a URL that names none, `unavailable` for one that fails.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const { synchronous = "full", clock = Date.now, warn, records, hooks } = options;
  const address = parseDatabaseUrl(url);
  return publishWrites(
    address.kind === "sqlite"
      ? await openSqliteStore({ path: address.path, synchronous, clock, records, hooks })
      : await openPostgresStore({ url, clock, warn, records, hooks }),
  );
}
