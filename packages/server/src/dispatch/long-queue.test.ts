import { EngineError } from "@engine/contract";
import {
  interposed,
  openSqliteStore,
  type QueuedExecution,
  type Store,
  type StoreCall,
} from "@engine/store";
import { expect, test } from "vitest";
import { ManualTime } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";
import type { Place } from "./queue-order.ts";

const AWAY = JSON.stringify({ worker: "away" });

/** Executions that wait for a worker which does not come, before and behind all others. */
const CROWD = 300_000;

function waiting(n: number, queued_at: number): QueuedExecution {
  const execution_id = `crowd-${String(n).padStart(7, "0")}`;
  const of = { run_as: null, namespace: "default", workflow: "hello" };
  const rest = {
    last_worker: null,
    requirements: AWAY,
    losses: null,
    head: 1,
    generation: 0,
    state: "CREATED" as const,
    ...of,
  };
  return { execution_id, priority: 0, queued_at, ...rest };
}

function compare(a: Place, b: Place): number {
  return a.queued_at - b.queued_at || (a.execution_id < b.execution_id ? -1 : 1);
}

/** A store with a crowd in its queue, most of it older than everything else, the rest younger. */
class CrowdedStore implements AsyncDisposable {
  readonly time: ManualTime;
  readonly store: Store;
  /** Pages that may be read before the store is away. */
  pages: number = Number.POSITIVE_INFINITY;
  readonly #inner: Store;

  private constructor(inner: Store, time: ManualTime) {
    this.time = time;
    this.#inner = inner;
    const old = Array.from({ length: CROWD }, (_, n) => waiting(n, 0));
    const young = Array.from({ length: 2_000 }, (_, n) => waiting(CROWD + n, 1e15));
    const listQueued: Store["queue"]["list"] = async ({ limit, after, fromEnd = false }) => {
      if (this.pages-- <= 0) throw new EngineError("unavailable", "the database is away");
      const own = await inner.queue.list({ limit: 100_000 });
      const parts = [old, own, young].map((rows) => {
        const from = after ? lowerBound(rows, after) : 0;
        return fromEnd
          ? rows.slice(Math.max(from, rows.length - limit))
          : rows.slice(from, from + limit);
      });
      const rows = parts.flat();
      return fromEnd ? rows.slice(-limit) : rows.slice(0, limit);
    };
    this.store = interposed(inner, ({ name }) =>
      name === "queue.list" ? (listQueued as StoreCall) : undefined,
    );
  }

  static async open(): Promise<CrowdedStore> {
    const time = new ManualTime();
    const { clock } = time;
    const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
    return new CrowdedStore(store, time);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner.close();
  }
}

/** Index of the first row behind another one. */
function lowerBound(rows: readonly QueuedExecution[], after: Place): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(rows[middle] as QueuedExecution, after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

test("DSP-5 any number of executions that no worker matches hides none that one could have", async () => {
  await using crowded = await CrowdedStore.open();
  const { store, time } = crowded;
  await using t = await TestEngine.start({}, { shared: { store, time } });
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await t.run()).execution_id);
  await t.restart();
  const worker = await t.worker();
  for (const execution_id of ids) {
    expect(await worker.next("assign")).toMatchObject({ execution_id });
  }
});

test("I17 what a look at a long queue did not get to is found by the next one", async () => {
  await using crowded = await CrowdedStore.open();
  const { store, time } = crowded;
  await using t = await TestEngine.start({}, { shared: { store, time } });
  const { execution_id } = await t.run();
  await t.engine.close();
  crowded.pages = 3;
  await expect(t.restart()).rejects.toMatchObject({ code: "unavailable" });
  crowded.pages = Number.POSITIVE_INFINITY;
  await t.engine.start();
  const worker = await t.worker();
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});
