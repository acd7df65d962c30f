import { openPostgresStore, type Store } from "@engine/store";
import { startTestPostgres } from "@engine/store/test-postgres";
import { Client } from "pg";
import type { Clock } from "../clock.ts";
import { HOOKS, type StoreSource } from "./store-source.ts";

/** Runs on one database; the next ones get another, as tables that are emptied again and again grow. */
const BATCH = 100;
/** As many servers as a run may have. */
const SERVERS = 3;

/** Nothing here survives a run, and nothing is to happen by itself while one is under way. */
const SETTINGS = { synchronous_commit: "off", autovacuum: "off" };

/** A real PostgreSQL server, and on it a database for each batch of runs. */
export async function postgresSource(): Promise<StoreSource> {
  const server = await startTestPostgres(SETTINGS);
  let batch: Batch | undefined;
  let runs = 0;
  return {
    kind: "postgres",
    async open({ seed, clocks }) {
      if (runs++ % BATCH === 0) {
        await batch?.close();
        batch = await Batch.open(await server.createDatabase());
      }
      const ofServers = (await batch?.begin(seed, clocks)) ?? [];
      return { ofServers, close: async () => {} };
    },
    async close() {
      await batch?.close();
      await server.stop();
    },
  };
}

/**
 * They have one row, which is always there. By that of hooks stores know whether what they remember of
 * those is old: it never comes back.
 */
const FIRST_EPOCHS =
  "UPDATE epochs SET identity = 0, masks = 0, services = 0, catalog = 0, hooks = hooks + 1";

/**
 * Runs on one database, which is emptied before each. They also share the stores, as connecting takes
 * longer than much of a run: what these remember is about executions, and no two seeds have one of the
 * same id. A seed that comes again gets stores that remember nothing.
 */
class Batch {
  readonly #url: string;
  readonly #client: Client;
  readonly #empty: string;
  readonly #seeds = new Set<number>();
  #clocks: readonly Clock[] = [];
  #stores: readonly Store[] = [];

  private constructor(url: string, client: Client, tables: readonly string[]) {
    this.#url = url;
    this.#client = client;
    // In any order: references between tables are not checked.
    const emptied = tables.map((table) =>
      table === "epochs" ? FIRST_EPOCHS : `DELETE FROM ${table}`,
    );
    this.#empty = ["SET session_replication_role = replica", ...emptied].join(";");
  }

  static async open(url: string): Promise<Batch> {
    await (await openPostgresStore({ url, clock: () => 0 })).close();
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'",
    );
    return new Batch(
      url,
      client,
      rows.map(({ name }) => name),
    );
  }

  async begin(seed: number, clocks: readonly Clock[]): Promise<readonly Store[]> {
    if (this.#stores.length === 0 || this.#seeds.has(seed)) await this.#reopen();
    this.#clocks = clocks;
    this.#seeds.add(seed);
    await this.#client.query(this.#empty);
    for (const { outbox } of this.#stores) await outbox.refresh();
    return this.#stores.slice(0, clocks.length);
  }

  async close(): Promise<void> {
    await this.#closeStores();
    await this.#client.end();
  }

  /** One for each server, with caches of its own, as each server has. */
  async #reopen(): Promise<void> {
    await this.#closeStores();
    // Opening looks at the time: no clock of a run is to move by that.
    this.#clocks = [];
    const url = this.#url;
    const opening = Array.from({ length: SERVERS }, (_, at) =>
      openPostgresStore({ url, clock: () => this.#clocks[at]?.read() ?? 0, hooks: HOOKS }),
    );
    this.#stores = await Promise.all(opening);
    this.#seeds.clear();
  }

  async #closeStores(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
  }
}
