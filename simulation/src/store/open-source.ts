import { type StoreSource, sqliteSource } from "./store-source.ts";

export type StoreKind = StoreSource["kind"];

/** The store that runs are to stand on. A database server starts with it, and stops when it is closed. */
export async function openSource(kind: StoreKind): Promise<StoreSource> {
  if (kind === "sqlite") return sqliteSource();
  // Not everybody who runs a seed has to have the database.
  const { postgresSource } = await import("./postgres-source.ts");
  return postgresSource();
}
