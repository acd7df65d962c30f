/** Made-up hooks, and events that fire them. */
import type { DeliveryGuard, NewExecution } from "@engine/contract";
import type { DeliveryRow } from "../hooks/delivery-row.ts";
import type { HookRow, NewHookRow } from "../hooks/hook-row.ts";
import type { OutboxOptions } from "../hooks/outbox.ts";
import type { Store } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { newExecution } from "./sample.ts";

/** Events are matched with the hooks of this moment, and nothing is masked. */
export const HOOKS_ON: OutboxOptions = {
  enabled: true,
  max_value_bytes: 1_024,
  snapshot_ttl_seconds: 0,
  redact: (json) => json,
};

export function hookedStore(open: Open, hooks: Partial<OutboxOptions> = {}): Promise<Store> {
  return opened(open, { hooks: { ...HOOKS_ON, ...hooks } });
}

/** It fires when an execution is created, unless said otherwise. */
export function newHook(name: string, fields: Partial<NewHookRow> = {}): NewHookRow {
  return {
    id: `id of ${name}`,
    name,
    enabled: true,
    selectors: ["execution:*:*:created"],
    workflow: "ops/page",
    principal: "ops-bot",
    max_attempts: 5,
    owner_type: "user",
    owner_ref: null,
    created_by: null,
    ...fields,
  };
}

/** A hook, and a delivery of it for each execution of some numbers, oldest first. */
export async function firedFor(
  store: Store,
  name: string,
  numbers: readonly number[],
): Promise<{ readonly hook: HookRow; readonly rows: readonly DeliveryRow[] }> {
  const hook = await store.hooks.create(newHook(name));
  for (const n of numbers) await store.executions.create(newExecution(n));
  return { hook, rows: await outboxOf(store, hook) };
}

/** All deliveries of a hook, oldest first. */
export async function outboxOf(
  store: Store,
  { id }: Pick<HookRow, "id">,
): Promise<readonly DeliveryRow[]> {
  const { items } = await store.deliveries.list(id, { limit: 1_000, offset: 0 });
  return items.toReversed();
}

/** What a try is judged by that looks at both now. */
export function guardFor(
  { id: delivery_id, attempts }: Pick<DeliveryRow, "id" | "attempts">,
  { id: hook_id, revision }: Pick<HookRow, "id" | "revision">,
): DeliveryGuard {
  return { delivery_id, attempts, hook_id, revision };
}

/**
 * Settles a delivery on an execution that is there already, so that no other event is written (HOOK-30).
 *
 * @returns False where the row is not as it was judged.
 */
export async function settled(store: Store, guard: DeliveryGuard, n = 1): Promise<boolean> {
  const { undelivered } = await store.executions.create({ ...newExecution(n), delivery: guard });
  return undelivered !== true;
}

/** What a hook starts, which no hook of these tests is fired by. */
export function target(n: number, fields: Partial<NewExecution> = {}): NewExecution {
  const trigger = { kind: "hook", id: "page" } as const;
  return newExecution(n, { namespace: "ops", workflow: "page", trigger, ...fields });
}
