import { type EngineError, invalidField } from "@engine/contract";
import { type PostgresTarget, postgresTarget } from "./postgres/postgres-url.ts";

/** Where a store's data lies. */
export type DatabaseAddress =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly target: PostgresTarget };

/**
 * Reads `sqlite:<path>`, `sqlite::memory:` or `postgres://user:password@host:port/database`.
 *
 * @throws EngineError `invalid_input` for anything else; its message holds no password.
 */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  // A URL may hold a password: messages show its scheme and nothing else of it.
  const [scheme = ""] = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(url) ?? [];
  switch (scheme.toLowerCase()) {
    case "sqlite": {
      const path = url.slice("sqlite:".length).replace(/^\/\//, "");
      if (path === "") throw refused("sqlite: needs a path, such as sqlite:.engine/engine.db");
      return { kind: "sqlite", path };
    }
    case "postgres":
    case "postgresql":
      return { kind: "postgres", target: postgresTarget(url) };
    default: {
      const got = scheme ? `one that begins with ${scheme}:` : "one without a scheme";
      throw refused(`expected a database URL sqlite:<path> or postgres://…, got ${got}`);
    }
  }
}

/** A database URL as a message or a log may show it: without user and password. */
export function shownDatabaseUrl(url: string): string {
  const address = parseDatabaseUrl(url);
  return address.kind === "sqlite"
    ? `sqlite:${address.path}`
    : `postgres://${address.target.place}`;
}

function refused(problem: string): EngineError {
  const message = `database_url: ${problem}`;
  return invalidField("database_url", message);
}
