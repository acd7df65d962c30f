import { decideClaim, handOver, type ResolvedLimit } from "@engine/contract";
import { afterAll, expect, test } from "vitest";
import { opened } from "../../conformance/opened.ts";
import { claimant, executionId, NOW, newExecution } from "../../conformance/sample.ts";
import type { Store } from "../../store.ts";
import { startTestPostgres } from "../../testing/test-postgres.ts";
import { openPostgresStore } from "../postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const PLACES = 3;
const EXECUTIONS = 24;

const workflow: ResolvedLimit = {
  ...{ kind: "concurrency", bucket: '["concurrency","shop/order"]', count: PLACES },
};
const shared: ResolvedLimit = { kind: "limit", bucket: '["limit","openai"]', name: "openai" };

/** In both orders, so that servers that took locks as they come would wait for each other. */
const ORDERS: readonly (readonly ResolvedLimit[])[] = [
  [workflow, shared],
  [shared, workflow],
];

async function owners(store: Store): Promise<string[]> {
  const page = { order: "created_asc", limit: 100, offset: 0 } as const;
  const { items } = await store.executions.list(page);
  return items.filter(({ session }) => session !== null).map(({ execution_id }) => execution_id);
}

test("FLW-8 servers that claim at the same time count together: no more are owned than there are places", async () => {
  const url = await postgres.createDatabase();
  const open = () => opened(() => openPostgresStore({ url, clock: () => NOW }));
  const [a, b] = [await open(), await open()];
  await a.limits.set("openai", { concurrency: PLACES, rate: null });
  for (let n = 0; n < EXECUTIONS; n++) {
    const limits = ORDERS[n % 2] ?? [];
    await a.executions.create({ ...newExecution(n), requirements: { limits } });
  }
  const claim = (store: Store, n: number) =>
    store.executions.change(executionId(n), (row) => decideClaim(row, claimant));
  const all = Array.from({ length: EXECUTIONS }, (_, n) => n);
  for (let round = 0; round < 5; round++) {
    await Promise.all(all.flatMap((n) => [claim(a, n), claim(b, n)]));
    const owned = await owners(a);
    expect(owned).toHaveLength(PLACES);
    // Given back by one server while the other claims.
    await Promise.all([
      ...owned.map((id) =>
        a.executions.change(id, (row) => handOver(row, { now: NOW, cancel_timeout_ms: 1 })),
      ),
      ...all.map((n) => claim(b, n)),
    ]);
    expect((await owners(a)).length).toBeLessThanOrEqual(PLACES);
  }
});
