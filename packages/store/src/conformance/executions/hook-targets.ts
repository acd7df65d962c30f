/** The start of what a hook runs settles its delivery, in one commit or not at all. */
import type { DeliveryGuard, NewExecution } from "@engine/contract";
import { expect, test } from "vitest";
import type { DeliveryRow } from "../../hooks/delivery-row.ts";
import type { Store } from "../../store.ts";
import { firedFor, guardFor, hookedStore, newHook, outboxOf, target } from "../hooked.ts";
import { auditOf } from "../identity.ts";
import type { Open } from "../opened.ts";
import { executionId, NOW, newSession } from "../sample.ts";

/** Fires for what tests start themselves, and not for targets. */
const SOURCES = ["execution:default:*:created"];

async function fired(open: Open, numbers: readonly number[] = [1]) {
  const store = await hookedStore(open);
  const { hook, rows } = await firedFor(store, "page", numbers);
  await store.hooks.change("page", { selectors: SOURCES }, { revision: 1, by: null });
  const guards = rows.map((row) => guardFor(row, { ...hook, revision: 2 }));
  const guard = (place: number): DeliveryGuard => {
    const found = guards[place];
    if (!found) throw new Error(`delivery ${place} is missing`);
    return found;
  };
  const row = async (place: number) => {
    const found = await store.deliveries.find(hook.id, guard(place).delivery_id);
    if (!found) throw new Error(`delivery ${place} is gone`);
    return found;
  };
  return { store, hook, rows, guard, row };
}

const PENDING: Partial<DeliveryRow> = { status: "pending", attempts: 0, execution_id: null };

function deliveredTo(n: number, attempts = 1): Partial<DeliveryRow> {
  const settled_at = expect.any(Number);
  const delivered = { status: "delivered", execution_id: executionId(n), attempts } as const;
  return { ...delivered, settled_at, error: null, next_attempt_at: null, dead_reason: null };
}

async function claimant(store: Store) {
  await store.sessions.open(newSession("s1", { worker: "w" }));
  const { epoch = -1 } = (await store.sessions.connect("s1", "replica")) ?? {};
  return { worker: "w", session: "s1", epoch, now: NOW };
}

export function hookTargetConformance(open: Open): void {
  test("HOOK-30 a target and the delivery that it settles are one commit", async () => {
    const { store, guard, row } = await fired(open);
    const hook = { name: "page", delivery_id: guard(0).delivery_id, hop: 0 };
    const fresh = target(9, { delivery: guard(0), hook });
    const created = await store.executions.create(fresh);
    expect(created).toMatchObject({ row: { execution_id: executionId(9), hook }, others: [] });
    expect(created.events).toMatchObject([{ seq: 1, type: "WORKFLOW_CREATED" }]);
    expect([created.undelivered, created.unchanged, created.existing]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect(await store.executions.find(executionId(9))).toEqual(created.row);
    expect(await row(0)).toMatchObject({ ...deliveredTo(9), settled_at: created.recorded_at });
    expect(await auditOf(store)).toEqual([]);
  });

  test("HOOK-30 a target is claimed in the same commit where a worker is free", async () => {
    const { store, guard, row } = await fired(open, [1, 2]);
    const by = await claimant(store);
    const created = await store.executions.create(target(9, { delivery: guard(0) }), by);
    expect(created.row).toMatchObject({ session: "s1", generation: 1 });
    expect(await row(0)).toMatchObject(deliveredTo(9));
    const late = { ...by, epoch: by.epoch + 1 };
    const unclaimed = await store.executions.create(target(10, { delivery: guard(1) }), late);
    expect(unclaimed.row).toMatchObject({ session: null, generation: 0 });
    expect(await row(1)).toMatchObject(deliveredTo(10));
  });

  test("HOOK-31 the try that starts a target is counted, and the error of the last one is forgotten", async () => {
    const { store, guard, row } = await fired(open);
    const failed = { attempts: 1, error: "busy", dead_reason: null, next_attempt_at: 5 };
    await store.deliveries.fail(guard(0), failed);
    await store.executions.create(target(9, { delivery: { ...guard(0), attempts: 1 } }));
    expect(await row(0)).toMatchObject(deliveredTo(9, 2));
  });

  test("HOOK-26 where the delivery or its hook is not as judged any more, nothing is written", async () => {
    const { store, guard, row } = await fired(open, [1, 2]);
    const guards: readonly DeliveryGuard[] = [
      { ...guard(0), attempts: 1 },
      { ...guard(0), revision: 1 },
      { ...guard(0), hook_id: "another" },
      { ...guard(0), delivery_id: "no delivery" },
    ];
    const by = await claimant(store);
    for (const delivery of guards) {
      const answer = await store.executions.create(target(9, { delivery }), by);
      expect(answer).toMatchObject({ undelivered: true, unchanged: true, events: [], others: [] });
      expect(answer.row.execution_id).toBe(executionId(9));
    }
    expect(await row(0)).toMatchObject(PENDING);
    const dead = { attempts: 0, error: "no", next_attempt_at: null } as const;
    await store.deliveries.fail(guard(0), { ...dead, dead_reason: "hop_limit" });
    const late = await store.executions.create(target(9, { delivery: guard(0) }));
    expect(late.undelivered).toBe(true);
    await store.hooks.delete("page");
    const orphan = await store.executions.create(target(9, { delivery: guard(1) }));
    expect(orphan.undelivered).toBe(true);
    expect(await store.executions.find(executionId(9))).toBeUndefined();
    expect(await store.log.read(executionId(9))).toEqual([]);
  });

  test("HOOK-30 a delivery whose execution is there already is settled on it", async () => {
    const { store, guard, row } = await fired(open);
    const first = await store.executions.create(target(9, { input: "first" }));
    const again = target(9, { input: "second", delivery: guard(0) });
    const answer = await store.executions.create(again, await claimant(store));
    expect(answer).toMatchObject({ row: first.row, events: [], others: [], existing: true });
    expect(await row(0)).toMatchObject(deliveredTo(9));
    expect(await store.log.read(executionId(9))).toHaveLength(1);
    // That it is settled already comes first.
    expect(await store.executions.create(again)).toMatchObject({ undelivered: true });
  });

  test("HOOK-26 of two that are asked for one delivery at once, one starts the target", async () => {
    const { store, guard, row } = await fired(open);
    const both = await Promise.all(
      [9, 9, 10].map((n) => store.executions.create(target(n, { delivery: guard(0) }))),
    );
    expect(both.filter(({ undelivered }) => undelivered)).toHaveLength(2);
    const started = both.find(({ undelivered }) => !undelivered);
    expect(started?.row.execution_id).toBe((await row(0)).execution_id);
    const found = await Promise.all([9, 10].map((n) => store.executions.find(executionId(n))));
    expect(found.filter(Boolean)).toHaveLength(1);
  });

  test("HOOK-28 of many that are asked for at once each settles its own, and those beside them are written", async () => {
    const numbers = Array.from({ length: 20 }, (_, i) => i + 1);
    const { store, rows, guard } = await fired(open, numbers);
    const asked = numbers.map((n, place): NewExecution => {
      const delivery = place % 4 === 0 ? { ...guard(place), attempts: 3 } : guard(place);
      return target(100 + n, { delivery });
    });
    const answers = await Promise.all([
      ...asked.map((fresh) => store.executions.create(fresh)),
      store.executions.create(target(500)),
    ]);
    expect(answers.map(({ undelivered }) => undelivered === true)).toEqual([
      ...numbers.map((_, place) => place % 4 === 0),
      false,
    ]);
    const [first] = rows;
    const now = await outboxOf(store, { id: first?.hook_id ?? "" });
    const settled = now.flatMap(({ execution_id }) => execution_id ?? []);
    expect(settled).toHaveLength(15);
    for (const id of settled) expect(await store.executions.find(id)).toBeDefined();
    const all = await store.executions.list({ order: "created_asc", limit: 100, offset: 0 });
    expect(all.total).toBe(20 + 15 + 1);
  });

  test("HOOK-14 HOOK-30 what the events of a target fire commits with them", async () => {
    const { store, guard } = await fired(open);
    const watch = { selectors: ["execution:ops:*:created"] };
    const watching = await store.hooks.create(newHook("watch", watch));
    const told: string[] = [];
    store.outbox.onDeliveries((written) => void told.push(...written.map(({ hook }) => hook)));
    const hook = { name: "page", delivery_id: guard(0).delivery_id, hop: 0 };
    await store.executions.create(target(9, { delivery: guard(0), hook }));
    const rows = await outboxOf(store, watching);
    expect(rows).toMatchObject([{ source_execution_id: executionId(9), hop: 1, ...PENDING }]);
    expect(told).toEqual(["watch"]);
    await store.executions.create(target(10, { delivery: guard(0), hook }));
    expect(await outboxOf(store, watching)).toEqual(rows);
  });

  test("HOOK-31 a target that is refused leaves its delivery as it was", async () => {
    const { store, guard, row } = await fired(open);
    const bucket = '["concurrency","ops/page"]';
    const limit = { kind: "concurrency", bucket, count: 1, overflow: "reject" } as const;
    const requirements = { limits: [limit] };
    await store.executions.create(target(8, { requirements }), await claimant(store));
    const refused = store.executions.create(target(9, { requirements, delivery: guard(0) }));
    await expect(refused).rejects.toMatchObject({ code: "concurrency_limited" });
    expect(await row(0)).toMatchObject(PENDING);
    expect(await store.executions.find(executionId(9))).toBeUndefined();
  });
}
