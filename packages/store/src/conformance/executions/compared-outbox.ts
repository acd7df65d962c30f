/** Hooks and deliveries of a store and of the model, and what is done to both between two commits. */
import type { DeliveryGuard } from "@engine/contract";
import { expect } from "vitest";
import type { DeliveryRow } from "../../hooks/delivery-row.ts";
import type { Store } from "../../store.ts";
import { newHook, outboxOf } from "../hooked.ts";
import type { Command } from "./command.ts";
import type { MemoryModel } from "./memory-model.ts";
import type { ModelDelivery } from "./model-outbox.ts";

/** What somebody does to a hook, or a drain to a delivery. */
export type OutboxDeed =
  | {
      readonly of: "hook";
      readonly name: string;
      readonly what: "make" | "disable" | "enable" | "select" | "delete";
      readonly selectors: readonly string[];
    }
  | {
      readonly of: "delivery";
      /** Among all there are. */
      readonly place: number;
      readonly what: "defer" | "kill" | "retry";
    };

export async function changeOutbox(
  store: Store,
  model: MemoryModel,
  deed: OutboxDeed,
): Promise<void> {
  if (deed.of === "hook") await changeHook(store, model, deed);
  else await changeDelivery(store, model, deed);
}

let made = 0;

async function changeHook(
  store: Store,
  { outbox }: MemoryModel,
  { name, what, selectors }: OutboxDeed & { of: "hook" },
): Promise<void> {
  const hook = outbox.hook(name);
  if (what === "make") {
    if (hook) return;
    // An earlier one of the name is another hook.
    const { id, enabled } = await store.hooks.create(
      newHook(name, { id: `${name} ${++made}`, selectors }),
    );
    outbox.setHook(name, { id, name, enabled, selectors, revision: 1 });
    return;
  }
  if (what === "delete") {
    const pending = outbox.deliveries.filter(
      ({ hook_id, status }) => hook_id === hook?.id && status === "pending",
    );
    expect(await store.hooks.delete(name)).toBe(hook && pending.length);
    outbox.setHook(name, undefined);
    return;
  }
  const change = what === "select" ? { selectors } : { enabled: what === "enable" };
  const at = { revision: hook?.revision ?? 0, by: null };
  const changed = await store.hooks.change(name, change, at);
  if (!hook || !changed || changed === "stale") {
    expect([hook, changed]).toEqual([undefined, undefined]);
    return;
  }
  outbox.setHook(name, { ...hook, ...change, revision: changed.revision });
}

async function changeDelivery(
  store: Store,
  model: MemoryModel,
  { place, what }: OutboxDeed & { of: "delivery" },
): Promise<void> {
  const row = await deliveryAt(store, model, place);
  if (!row) return;
  const { id, hook_id, attempts } = row;
  const { outbox } = model;
  const guard = guardOf(model, row);
  if (what === "retry") {
    const retried = await store.deliveries.retry(hook_id, id);
    const isDead = row.status === "dead";
    expect(typeof retried).toBe(isDead ? "object" : "string");
    if (isDead) outbox.set(id, { status: "pending", attempts: 0, dead_reason: null });
    return;
  }
  const isPending = outbox.holds(guard);
  const dead_reason = what === "kill" ? "attempts_exhausted" : null;
  const tried = { attempts: attempts + 1, dead_reason } as const;
  const undelivered = { ...tried, error: "no", next_attempt_at: what === "defer" ? 5 : null };
  expect(await store.deliveries.fail(guard, undelivered)).toBe(isPending);
  if (isPending) outbox.set(id, { ...tried, status: what === "kill" ? "dead" : "pending" });
}

/** The command, with the guard of a delivery that is there now. */
export async function settling(
  store: Store,
  model: MemoryModel,
  command: Command,
): Promise<Command> {
  if (command.kind !== "create" || !command.settles) return command;
  const { place, wrong } = command.settles;
  const row = await deliveryAt(store, model, place);
  if (!row) return command;
  const guard = guardOf(model, row);
  const delivery = wrong === "nothing" ? guard : { ...guard, [wrong]: guard[wrong] + 1 };
  return { ...command, fresh: { ...command.fresh, delivery } };
}

export async function expectSameOutbox(store: Store, model: MemoryModel): Promise<void> {
  const rows = (await deliveriesIn(store, model)).map(
    ({ hook_id, event_key, selector, event_type, hop, ...row }): ModelDelivery => ({
      ...{ hook_id, event_key, selector, event_type, hop, status: row.status },
      ...{ attempts: row.attempts, execution_id: row.execution_id, dead_reason: row.dead_reason },
    }),
  );
  expect(rows).toEqual(model.outbox.deliveries);
}

async function deliveryAt(
  store: Store,
  model: MemoryModel,
  place: number,
): Promise<DeliveryRow | undefined> {
  const rows = await deliveriesIn(store, model);
  for (const row of rows) model.outbox.learn(row.id, row);
  return rows[place % rows.length];
}

/** By hook and event. */
async function deliveriesIn(store: Store, { outbox }: MemoryModel): Promise<DeliveryRow[]> {
  const all = await Promise.all(outbox.hooks.map((hook) => outboxOf(store, hook)));
  const keyOf = ({ hook_id, event_key }: DeliveryRow) => `${hook_id} ${event_key}`;
  return all.flat().sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function guardOf({ outbox }: MemoryModel, row: DeliveryRow): DeliveryGuard {
  const hook = outbox.hooks.find(({ id }) => id === row.hook_id);
  const { id: delivery_id, attempts, hook_id } = row;
  return { delivery_id, attempts, hook_id, revision: hook?.revision ?? 0 };
}
