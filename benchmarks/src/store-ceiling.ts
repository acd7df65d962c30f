import { type NewExecution, patchOf } from "@engine/contract";
import { openStore, type Store } from "@engine/store";
import { BareTables } from "./bare-tables.ts";
import { durabilityOf } from "./durability.ts";
import { gate } from "./gate.ts";
import { createHome } from "./home.ts";
import type { Measure } from "./measure.ts";
import { startCluster } from "./postgres-cluster.ts";
import type { StoreKind } from "./setup.ts";
import { type Steps, stepEvents } from "./steps.ts";
import { count, ms } from "./table.ts";

const BATCHES = [1, 32, 200];
/** What one step of a run writes: the log segment with its events, and the execution's own row. */
const ROWS_PER_STEP = 2;

/**
 * How many steps the disk and the database take when nothing else is in the way: steps of many executions,
 * so many in one commit. On SQLite once on bare tables of the store's own schema, once through the store.
 */
export const storeCeiling: Measure = {
  name: "store-ceiling",
  means: "rows a second of bare tables and of the store",
  async run(bench) {
    const limitMs = bench.quick ? 400 : 3_000;
    const figures: Record<string, number> = {};
    const rows: string[][] = [];
    for (const [name, open] of ways(bench.setup.store)) {
      for (const batch of BATCHES) {
        const perSecond = await withDatabase(bench.setup.store, (database) =>
          commitsPerSecond(() => open(database, batch), batch, limitMs),
        );
        const steps = perSecond * batch;
        figures[`${name.replace(" ", "_")}_steps_per_second_at_${batch}`] = steps;
        rows.push([
          `${name}, ${batch} steps in a commit`,
          count(perSecond),
          ms(1000 / perSecond),
          count(steps),
          count(steps * ROWS_PER_STEP),
        ]);
      }
    }
    const columns = ["ceiling of the database", "commits/s", "per commit", "steps/s", "rows/s"];
    const { store } = bench.setup;
    const on = `${store}, ${durabilityOf(store)}`;
    const title = `Ceiling: ${on}, a step = a log segment and a row update`;
    return { tables: [{ title, columns, rows }], figures, samples: {} };
  },
};

type Open = (database: string, executions: number) => Promise<Steps>;

function ways(store: StoreKind): readonly (readonly [string, Open])[] {
  const throughStore: readonly [string, Open] = ["store", openBareStore];
  return store === "sqlite" ? [["bare tables", openBareTables], throughStore] : [throughStore];
}

async function commitsPerSecond(
  open: () => Promise<Steps>,
  batch: number,
  limitMs: number,
): Promise<number> {
  const steps = await open();
  try {
    const [before] = await steps.heads();
    let commits = 0;
    const start = performance.now();
    while (performance.now() - start < limitMs) {
      await steps.takeAll();
      commits++;
    }
    const elapsed = performance.now() - start;
    const expected = (before ?? 0) + commits * stepEvents(0).length;
    const heads = await steps.heads();
    gate(heads.length === batch, () => `${heads.length} executions instead of ${batch}`);
    gate(
      heads.every((head) => head === expected),
      () => `a log holds ${heads.find((head) => head !== expected)} of ${expected} events`,
    );
    return commits / (elapsed / 1000);
  } finally {
    await steps.close();
  }
}

/** A database of its own by its URL. */
async function withDatabase<T>(store: StoreKind, use: (url: string) => Promise<T>): Promise<T> {
  const place = store === "sqlite" ? await createHome() : await startCluster();
  try {
    return await use("path" in place ? `sqlite:${place.path}/ceiling.db` : place.url);
  } finally {
    await ("path" in place ? place.remove() : place.stop());
  }
}

function openBareTables(url: string, executions: number): Promise<Steps> {
  return BareTables.open(url.slice("sqlite:".length), executions);
}

async function openBareStore(url: string, executions: number): Promise<Steps> {
  const store: Store = await openStore(url, { synchronous: "full" });
  const ids = Array.from({ length: executions }, (_, i) => `execution-${i}`);
  const claimant = { worker: "bench", session: "bench", now: Date.now() };
  await Promise.all(ids.map((id) => store.executions.create(freshExecution(id), claimant)));
  let n = 0;
  return {
    async takeAll() {
      n++;
      const events = stepEvents(n);
      const now = Date.now();
      const steps = ids.map((id) =>
        store.executions.change(id, (row) => ({ events, patch: patchOf(row, events, now) })),
      );
      await Promise.all(steps);
    },
    async heads() {
      const rows = await Promise.all(ids.map((id) => store.executions.find(id)));
      return rows.map((row) => row?.head ?? 0);
    },
    close: () => store.close(),
  };
}

function freshExecution(execution_id: string): NewExecution {
  return {
    execution_id,
    namespace: "bench",
    workflow: "chain",
    version: null,
    module_hash: null,
    input: 3,
    trigger: { kind: "local" },
    by: null,
    seed: "bench",
    now: Date.now(),
  };
}
