import {
  type DeadReason,
  type DeliveryGuard,
  type DeliveryStatus,
  deliveriesOf,
  HookIndex,
} from "@engine/contract";
import type { Outcome } from "./outcome.ts";

/** What is looked at of a hook. */
export interface ModelHook {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly selectors: readonly string[];
  readonly revision: number;
}

/** What is compared of a delivery; its id is made of the instant of its commit, which nobody knows here. */
export interface ModelDelivery {
  readonly hook_id: string;
  readonly event_key: string;
  readonly selector: string;
  readonly event_type: string;
  readonly hop: number;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly execution_id: string | null;
  readonly dead_reason: DeadReason | null;
}

/** Hooks and their deliveries in the plainest way. */
export class ModelOutbox {
  readonly #hooks = new Map<string, ModelHook>();
  readonly #deliveries = new Map<string, ModelDelivery>();
  /** By the ids that a store has given them. */
  readonly #keys = new Map<string, string>();

  hook(name: string): ModelHook | undefined {
    return this.#hooks.get(name);
  }

  setHook(name: string, hook: ModelHook | undefined): void {
    const before = this.#hooks.get(name);
    if (hook) this.#hooks.set(name, hook);
    else this.#hooks.delete(name);
    if (hook || !before) return;
    for (const [key, { hook_id }] of this.#deliveries) {
      if (hook_id === before.id) this.#deliveries.delete(key);
    }
  }

  get hooks(): readonly ModelHook[] {
    return [...this.#hooks.values()];
  }

  /** By hook and event. */
  get deliveries(): readonly ModelDelivery[] {
    return [...this.#deliveries.keys()].sort().map((key) => this.#of(key));
  }

  /** The store has a delivery under this id. */
  learn(id: string, { hook_id, event_key }: Pick<ModelDelivery, "hook_id" | "event_key">): void {
    this.#keys.set(id, `${hook_id} ${event_key}`);
  }

  find(id: string): ModelDelivery | undefined {
    return this.#deliveries.get(this.#keys.get(id) ?? "");
  }

  set(id: string, fields: Partial<ModelDelivery>): void {
    const key = this.#keys.get(id) ?? "";
    this.#deliveries.set(key, { ...this.#of(key), ...fields });
  }

  /** Events have been written. */
  write({ row, events }: Outcome): void {
    const index = new HookIndex(this.hooks.filter(({ enabled }) => enabled));
    const change = { row, events, recorded_at: 0 };
    for (const delivery of deliveriesOf(change, index, () => "0".repeat(64))) {
      const { hook_id, event_key, selector, event_type, hop } = delivery;
      this.#deliveries.set(`${hook_id} ${event_key}`, {
        ...{ hook_id, event_key, selector, event_type, hop },
        ...{ status: "pending", attempts: 0, execution_id: null, dead_reason: null },
      });
    }
  }

  holds({ delivery_id, attempts, hook_id, revision }: DeliveryGuard): boolean {
    const found = this.find(delivery_id);
    if (found?.status !== "pending" || found.attempts !== attempts) return false;
    const hook = this.hooks.find(({ id }) => id === hook_id);
    return found.hook_id === hook_id && hook?.revision === revision;
  }

  settle({ delivery_id, attempts }: DeliveryGuard, execution_id: string): void {
    this.set(delivery_id, { status: "delivered", execution_id, attempts: attempts + 1 });
  }

  #of(key: string): ModelDelivery {
    const found = this.#deliveries.get(key);
    if (!found) throw new Error(`there is no delivery ${key}`);
    return found;
  }
}
