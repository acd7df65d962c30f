import { EngineError } from "@engine/contract";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

export interface StoreOptions {
  /** SQLite only; see `store.synchronous` of the configuration. */
  readonly synchronous?: "full" | "normal" | undefined;
  /** Milliseconds since 1970; the system's clock unless given. */
  readonly clock?: (() => number) | undefined;
}

/**
 * Opens the store a database URL names: `sqlite:<path>`, or `sqlite::memory:`.
 *
 * @throws EngineError `invalid_input` for a URL that names none, `unavailable` for one that fails.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const { synchronous = "full", clock = Date.now } = options;
  // A URL may hold a password: messages show its scheme and nothing else of it.
  const [scheme = ""] = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(url) ?? [];
  switch (scheme.toLowerCase()) {
    case "sqlite": {
      const path = url.slice("sqlite:".length).replace(/^\/\//, "");
      if (path === "") throw refused("sqlite: needs a path, such as sqlite:.engine/engine.db");
      return openSqliteStore({ path, synchronous, clock });
    }
    case "postgres":
    case "postgresql":
      throw refused("PostgreSQL comes with a later release; use sqlite:<path>");
    default:
      throw refused(
        scheme
          ? `expected a database URL sqlite:<path>, got one that begins with ${scheme}:`
          : "expected a database URL sqlite:<path>, got one without a scheme",
      );
  }
}

function refused(message: string): EngineError {
  return new EngineError("invalid_input", message, {
    details: { issues: [{ path: "database_url", message }] },
  });
}
