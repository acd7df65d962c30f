import { type EngineError, invalidField } from "@engine/contract";

/** A database to connect to. */
export interface PostgresTarget {
  readonly url: string;
  /** Host, port and database: all of the URL that a message may show. */
  readonly place: string;
  /** What no message may show, wherever it comes from. */
  readonly secrets: readonly string[];
}

/** @throws EngineError `invalid_input` for what is no such URL; its message shows nothing of it. */
export function postgresTarget(url: string): PostgresTarget {
  // The error of a failed `new URL` holds the whole text, password and all: it goes no further.
  if (!URL.canParse(url)) throw refused("it cannot be read as a URL");
  const { hostname, port, pathname, password, searchParams } = new URL(url);
  if (pathname.length < 2) throw refused("it names no database");
  const host = hostname || searchParams.get("host") || "localhost";
  const named = ["password", "sslpassword"].map((name) => searchParams.get(name) ?? "");
  return {
    url,
    place: `${host}:${port || "5432"}${pathname}`,
    secrets: [password, decoded(password), ...named].filter((secret) => secret !== ""),
  };
}

/** A message of somebody else, without what is secret in the URL. */
export function masked(message: string, { url, secrets }: PostgresTarget): string {
  return [url, ...secrets].reduce((text, secret) => text.replaceAll(secret, "***"), message);
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    throw refused("its password holds a % that stands for nothing; write it as %25");
  }
}

function refused(reason: string): EngineError {
  const message = `database_url: expected a database URL postgres://user:password@host:port/database: ${reason}`;
  return invalidField("database_url", message);
}
