import type { DeadReason } from "@engine/contract";
import { expect, test } from "vitest";
import type { DeliveryRow } from "../hooks/delivery-row.ts";
import type { HookRow } from "../hooks/hook-row.ts";
import type { Store } from "../store.ts";
import { dueConformance } from "./due-deliveries.ts";
import { firedFor, guardFor, hookedStore, newHook, outboxOf, settled } from "./hooked.ts";
import { auditOf, identityWrite } from "./identity.ts";
import type { Open } from "./opened.ts";
import { appending, event, executionId, newExecution } from "./sample.ts";

const page = { limit: 100, offset: 0 };

/** Some deliveries of a hook, each by its place. */
async function fired(open: Open, numbers: readonly number[]) {
  const store = await hookedStore(open);
  const { hook, rows } = await firedFor(store, "page", numbers);
  const row = (place: number): DeliveryRow => {
    const found = rows[place];
    if (!found) throw new Error(`delivery ${place} is missing`);
    return found;
  };
  const now = async (place: number): Promise<DeliveryRow | undefined> => {
    const found = await store.deliveries.find(hook.id, row(place).id);
    if (!found) return undefined;
    const { envelope: _, ...shown } = found;
    return shown;
  };
  return { store, hook, rows, row, now };
}

function kill(
  store: Store,
  row: DeliveryRow,
  hook: HookRow,
  dead_reason: DeadReason = "target_not_found",
): Promise<boolean> {
  const undelivered = { attempts: 1, error: "gone", dead_reason, next_attempt_at: null };
  return store.deliveries.fail(guardFor(row, hook), undelivered);
}

export function conformance(open: Open): void {
  test("HOOK-3 a delivery is read as its event has left it, in lists without its envelope", async () => {
    const { store, hook, row } = await fired(open, [1]);
    const { id, created_at } = row(0);
    expect(row(0)).toEqual({
      ...{ id, hook_id: hook.id, hook: "page", event_key: `${executionId(1)}:1` },
      ...{ status: "pending", attempts: 0, hop: 0, selector: "execution:*:*:created" },
      ...{ event_type: "created", source_workflow: "default/hello" },
      ...{ source_execution_id: executionId(1), execution_id: null, error: null },
      ...{ dead_reason: null, next_attempt_at: null, created_at, settled_at: null },
    });
    const [logged] = await store.log.read(executionId(1));
    expect(created_at).toBe(logged?.recorded_at);
    const full = await store.deliveries.find(hook.id, id);
    expect(full).toEqual({ ...row(0), envelope: expect.any(String) });
    expect(JSON.parse(full?.envelope ?? "")).toMatchObject({ delivery_id: id, hook: "page" });
    expect(await store.deliveries.find("another hook", id)).toBeUndefined();
    expect(await store.deliveries.find(hook.id, "no delivery")).toBeUndefined();
  });

  test("HOOK-36 deliveries of a hook are listed newest first, page by page, or only some", async () => {
    const { store, hook, rows, row } = await fired(open, [1, 2, 3, 4]);
    await store.hooks.create(newHook("other", { selectors: ["task:*"] }));
    await store.executions.change(executionId(1), (of) =>
      appending(of, [event("TASK_STARTED", "a")]),
    );
    await kill(store, row(0), hook, "hop_limit");
    await kill(store, row(1), hook);
    await settled(store, guardFor(row(2), hook));
    const ids = rows.map(({ id }) => id);
    const listed = async (filter: object) => {
      const { items, total } = await store.deliveries.list(hook.id, { ...page, ...filter });
      return [items.map(({ id }) => ids.indexOf(id)), total];
    };
    expect(await listed({})).toEqual([[3, 2, 1, 0], 4]);
    expect(await listed({ limit: 2, offset: 1 })).toEqual([[2, 1], 4]);
    expect(await listed({ before: ids[2] })).toEqual([[1, 0], 4]);
    expect(await listed({ status: "dead" })).toEqual([[1, 0], 2]);
    expect(await listed({ status: "delivered" })).toEqual([[2], 1]);
    expect(await listed({ status: "pending" })).toEqual([[3], 1]);
    expect(await listed({ dead_reason: "hop_limit" })).toEqual([[0], 1]);
    expect(await listed({ dead_reason: "hop_limit", status: "pending" })).toEqual([[], 0]);
    const { source_execution_id } = row(1);
    expect(await listed({ source_execution_id })).toEqual([[1], 1]);
    const source = executionId(1).slice(0, -1);
    expect(await listed({ source_execution_id: source })).toEqual([[], 0]);
  });

  test("HOOK-31 a try that failed is written down, and the row is due again at its time", async () => {
    const { store, hook, row, now } = await fired(open, [1]);
    const guard = guardFor(row(0), hook);
    const undelivered = { attempts: 1, error: "busy", dead_reason: null, next_attempt_at: 5_000 };
    expect(await store.deliveries.fail(guard, undelivered)).toBe(true);
    const failed = await now(0);
    expect(failed).toEqual({ ...row(0), attempts: 1, error: "busy", next_attempt_at: 5_000 });
    // It was judged by what the row is no more.
    expect(await store.deliveries.fail(guard, undelivered)).toBe(false);
    expect(await settled(store, guard)).toBe(false);
    expect(await now(0)).toEqual(failed);
  });

  test("HOOK-29 HOOK-3 a dead row says why and since when, and is tried no more", async () => {
    const { store, hook, row, now } = await fired(open, [1]);
    expect(await kill(store, row(0), hook)).toBe(true);
    const dead = await now(0);
    expect(dead).toEqual({
      ...{ ...row(0), status: "dead", attempts: 1, error: "gone" },
      ...{ dead_reason: "target_not_found", settled_at: expect.any(Number) },
    });
    expect(await kill(store, { ...row(0), attempts: 1 }, hook)).toBe(false);
  });

  test("HOOK-31 a text that no database could store is written down all the same", async () => {
    const { store, hook, row, now } = await fired(open, [1]);
    const error = "nul \u0000 and half \ud800";
    const undelivered = { attempts: 1, error, dead_reason: null, next_attempt_at: null };
    expect(await store.deliveries.fail(guardFor(row(0), hook), undelivered)).toBe(true);
    const failed = await now(0);
    expect(failed?.error).toBe("nul \ufffd and half \ufffd");
    expect(failed?.next_attempt_at).toBeNull();
  });

  test("HOOK-26 nothing is written for a hook that has changed since, or is gone", async () => {
    const { store, hook, row } = await fired(open, [1]);
    const guard = guardFor(row(0), hook);
    await store.hooks.change("page", { enabled: false }, { revision: 1, by: null });
    const undelivered = { attempts: 1, error: "no", dead_reason: null, next_attempt_at: null };
    expect(await store.deliveries.fail(guard, undelivered)).toBe(false);
    expect(await settled(store, guard)).toBe(false);
    expect(await outboxOf(store, hook)).toEqual([row(0)]);
    const now = { ...guard, revision: 2 };
    expect(await settled(store, { ...now, hook_id: "another" })).toBe(false);
    expect(await settled(store, now)).toBe(true);
    await store.hooks.delete("page");
    expect(await store.deliveries.fail(now, undelivered)).toBe(false);
  });

  test("HOOK-30 a row is settled on the execution that it has started", async () => {
    const { store, hook, row, now } = await fired(open, [1]);
    const undelivered = { attempts: 1, error: "busy", dead_reason: null, next_attempt_at: 9 };
    await store.deliveries.fail(guardFor(row(0), hook), undelivered);
    const guard = guardFor({ ...row(0), attempts: 1 }, hook);
    expect(await settled(store, guard)).toBe(true);
    expect(await now(0)).toEqual({
      ...{ ...row(0), status: "delivered", attempts: 2, execution_id: executionId(1) },
      ...{ error: null, next_attempt_at: null, settled_at: expect.any(Number) },
    });
    expect(await settled(store, guard)).toBe(false);
  });

  test("HOOK-37 a dead row is handed back to the drain as if it were new", async () => {
    const { store, hook, row, now } = await fired(open, [1, 2]);
    await kill(store, row(0), hook);
    await settled(store, guardFor(row(1), hook));
    const { entry } = identityWrite("hooks.retry", { target: "page" });
    expect(await store.deliveries.retry("another", row(0).id, entry)).toBeUndefined();
    expect(await store.deliveries.retry(hook.id, "no delivery", entry)).toBeUndefined();
    expect(await store.deliveries.retry(hook.id, row(1).id, entry)).toBe("delivered");
    expect(await auditOf(store)).toEqual([]);
    expect(await store.deliveries.retry(hook.id, row(0).id, entry)).toEqual(row(0));
    expect(await now(0)).toEqual(row(0));
    expect(await store.deliveries.retry(hook.id, row(0).id, entry)).toBe("pending");
    expect(await auditOf(store)).toMatchObject([
      { action: "hooks.retry", changes: { status: { before: "dead", after: "pending" } } },
    ]);
  });

  test("HOOK-36 HOOK-37 many dead rows are handed back, oldest first, and it is said how many are left", async () => {
    const { store, hook, rows, row } = await fired(open, [1, 2, 3, 4, 5]);
    for (const place of [0, 1, 3]) await kill(store, row(place), hook);
    await kill(store, row(2), hook, "hop_limit");
    const settled_before = Date.now() + 1_000;
    const statuses = async () => {
      const found = await outboxOf(store, hook);
      return rows.map(({ id }) => found.find((one) => one.id === id)?.status);
    };
    const filter = { settled_before, limit: 2, dead_reason: "target_not_found" } as const;
    const { entry } = identityWrite("hooks.retry");
    const nothing = { ...filter, settled_before: 1 };
    expect(await store.deliveries.retryMany(hook.id, nothing, entry)).toEqual({
      ...{ retried: 0, remaining: 0 },
    });
    expect(await auditOf(store)).toEqual([]);
    expect(await store.deliveries.retryMany(hook.id, filter, entry)).toEqual({
      ...{ retried: 2, remaining: 1 },
    });
    expect(await statuses()).toEqual(["pending", "pending", "dead", "dead", "pending"]);
    expect(await auditOf(store)).toMatchObject([{ changes: { retried: { after: 2 } } }]);
    const all = { settled_before, limit: 100 };
    expect(await store.deliveries.retryMany(hook.id, all)).toEqual({ retried: 2, remaining: 0 });
    expect(await outboxOf(store, hook)).toEqual(rows);
  });

  test("HOOK-29 a row whose hook is gone is removed, and no other", async () => {
    const { store, hook, row } = await fired(open, [1]);
    await store.deliveries.forget(row(0));
    expect(await outboxOf(store, hook)).toEqual([row(0)]);
    await store.deliveries.forget({ ...row(0), id: "no delivery" });
  });

  test("HOOK-55 settled rows are removed when they are old, some at a time, pending ones never", async () => {
    const { store, hook, row } = await fired(open, [1, 2, 3, 4]);
    await kill(store, row(0), hook);
    await settled(store, guardFor(row(1), hook));
    await settled(store, guardFor(row(2), hook));
    expect(await store.deliveries.deleteSettled(1, 10)).toBe(0);
    const later = Date.now() + 1_000;
    expect(await store.deliveries.deleteSettled(later, 2)).toBe(2);
    expect(await store.deliveries.deleteSettled(later, 2)).toBe(1);
    expect(await store.deliveries.deleteSettled(later, 2)).toBe(0);
    expect(await outboxOf(store, hook)).toEqual([row(3)]);
  });

  test("HOOK-4 HOOK-55 a delivery outlives the execution whose event it is of", async () => {
    const store = await hookedStore(open);
    const hook = await store.hooks.create(newHook("page"));
    await store.executions.create(newExecution(1));
    const ended = { state: "FAILED", finished_at: 1 } as const;
    await store.executions.change(executionId(1), () => ({ events: [], patch: ended }));
    expect(await store.retention.deleteFinished(Date.now() + 1_000, 10)).toHaveLength(1);
    expect(await outboxOf(store, hook)).toMatchObject([{ status: "pending" }]);
  });

  dueConformance(open);
}
