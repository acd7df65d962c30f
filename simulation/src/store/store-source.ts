import { type OutboxOptions, openSqliteStore, type Store } from "@engine/store";
import type { Clock } from "../clock.ts";

/** Where the stores of runs come from. */
export interface StoreSource {
  readonly kind: "sqlite" | "postgres";
  /** The stores of one run, on a database with nothing in it. */
  open(run: OpenedRun): Promise<RunStores>;
  close(): Promise<void>;
}

export interface OpenedRun {
  readonly seed: number;
  /** Of each server's store. */
  readonly clocks: readonly Clock[];
}

/** What the servers of one run share. */
export interface RunStores {
  /** By the number of the server: its own view of the database, or the same for all. */
  readonly ofServers: readonly Store[];
  close(): Promise<void>;
}

/** Values that are soon large; and hooks as they are at each commit, on a database elsewhere, too. */
export const HOOKS: OutboxOptions = {
  enabled: true,
  max_value_bytes: 1_024,
  snapshot_ttl_seconds: 0,
};

/** In memory, and in this process: its work takes turns of the event loop, and always as many. */
export function sqliteSource(): StoreSource {
  return {
    kind: "sqlite",
    async open({ clocks }) {
      const [clock] = clocks;
      const store = await openSqliteStore({
        path: ":memory:",
        synchronous: "normal",
        clock: () => clock?.read() ?? 0,
        hooks: HOOKS,
      });
      return { ofServers: clocks.map(() => store), close: () => store.close() };
    },
    close: async () => {},
  };
}
