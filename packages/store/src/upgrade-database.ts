import type { MigrationStatus } from "./migration-files.ts";
import { migrationStatus } from "./migration-status.ts";
import { openStore, type StoreOptions } from "./open-store.ts";

/**
 * Brings a database up to date ahead of the servers that use it, which would do so themselves.
 *
 * @returns What it has not had before.
 * @throws EngineError As opening its store does.
 */
export async function upgradeDatabase(
  url: string,
  options: Pick<StoreOptions, "clock"> = {},
): Promise<readonly MigrationStatus[]> {
  const before = await migrationStatus(url);
  const store = await openStore(url, options);
  await store.close();
  const had = new Set(before.filter(({ applied_at }) => applied_at !== null).map((m) => m.number));
  return (await migrationStatus(url)).filter(({ number }) => !had.has(number));
}
