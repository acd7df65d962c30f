import { DURABLE_SETTINGS } from "./postgres-cluster.ts";
import type { StoreKind } from "./setup.ts";

/** What an acknowledged commit has behind it, as the store's own settings say it. */
export function durabilityOf(store: StoreKind): string {
  return store === "sqlite" ? "synchronous=FULL" : POSTGRES_DURABILITY;
}

export const POSTGRES_DURABILITY: string = Object.entries(DURABLE_SETTINGS)
  .map(([name, value]) => `${name}=${value}`)
  .join(" ");
