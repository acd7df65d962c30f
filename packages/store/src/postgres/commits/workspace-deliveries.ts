/**
 * Deliveries that creations settle. Their hooks are locked before them, each in the order of ids, and both
 * before the first row of an execution: nobody waits for one of them while holding an execution, and
 * whoever changes or deletes a hook begins with that as well. The hooks are only kept as they are, so that
 * creations for one hook do not wait for each other.
 */
import type { DeliveryGuard } from "@engine/contract";
import type { Database, Query } from "../database.ts";
import { type SentColumn, sentRows, sentRowsSql } from "./sent-columns.ts";

interface LockedDelivery {
  readonly id: string;
  readonly hook_id: string;
  readonly status: string;
  readonly attempts: number;
}

interface LockedHook {
  readonly id: string;
  readonly revision: number;
}

/** A delivery that has started an execution. */
interface Settled {
  readonly hook_id: string;
  readonly id: string;
  readonly execution_id: string;
  readonly attempts: number;
}

export class WorkspaceDeliveries {
  readonly #guards: readonly DeliveryGuard[];
  readonly #hooks = new Map<string, LockedHook>();
  readonly #deliveries = new Map<string, LockedDelivery>();
  #settled = new Map<string, Settled>();

  /** @param guards Of all creations of the transaction. */
  constructor(guards: readonly DeliveryGuard[]) {
    this.#guards = guards;
  }

  /** What has to be sent first, in their order; nothing where no creation settles one. */
  locks(database: Database): readonly Query[] {
    if (this.#guards.length === 0) return [];
    const hooks = [...new Set(this.#guards.map(({ hook_id }) => hook_id))].sort();
    return [
      [database.prepare(LOCK_HOOKS_SQL), hooks],
      [
        database.prepare(LOCK_DELIVERIES_SQL),
        this.#guards.map(({ hook_id }) => hook_id),
        this.#guards.map(({ delivery_id }) => delivery_id),
      ],
    ];
  }

  take([hooks = [], deliveries = []]: readonly (readonly unknown[])[]): void {
    for (const hook of hooks as readonly LockedHook[]) this.#hooks.set(hook.id, hook);
    for (const one of deliveries as readonly LockedDelivery[]) this.#deliveries.set(one.id, one);
  }

  /** Whether nothing has happened to a delivery or to its hook since a try was judged (HOOK-26). */
  holds({ delivery_id, attempts, hook_id, revision }: DeliveryGuard): boolean {
    const delivery = this.#deliveries.get(delivery_id);
    if (!delivery || this.#settled.has(delivery_id)) return false;
    const isAsJudged = delivery.status === "pending" && delivery.attempts === attempts;
    const isOfHook = delivery.hook_id === hook_id;
    return isAsJudged && isOfHook && this.#hooks.get(hook_id)?.revision === revision;
  }

  settle({ hook_id, delivery_id: id, attempts }: DeliveryGuard, execution_id: string): void {
    this.#settled.set(id, { hook_id, id, execution_id, attempts: attempts + 1 });
  }

  startOver(): void {
    this.#settled = new Map();
  }

  written(database: Database, at: number): readonly Query[] {
    const settled = [...this.#settled.values()];
    if (settled.length === 0) return [];
    return [[database.prepare(SETTLE_SQL), at, ...sentRows(SETTLED_COLUMNS, settled)]];
  }
}

const SETTLED_COLUMNS: readonly SentColumn<Settled>[] = [
  { name: "hook_id", type: "text", value: ({ hook_id }) => hook_id },
  { name: "id", type: "text", value: ({ id }) => id },
  { name: "execution_id", type: "text", value: ({ execution_id }) => execution_id },
  { name: "attempts", type: "integer", value: ({ attempts }) => attempts },
];

const LOCK_HOOKS_SQL = `
  SELECT id, revision FROM hooks WHERE id = ANY($1) ORDER BY id FOR SHARE`;

const LOCK_DELIVERIES_SQL = `
  SELECT d.id, d.hook_id, d.status, d.attempts
  FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS r (hook_id, id)) AS r
  JOIN hook_deliveries AS d ON d.hook_id = r.hook_id AND d.id = r.id
  ORDER BY d.hook_id, d.id FOR NO KEY UPDATE OF d`;

const SETTLE_SQL = `
  UPDATE hook_deliveries AS d
  SET status = 'delivered', execution_id = r.execution_id, attempts = r.attempts, error = NULL,
    due_at = 0, settled_at = $1
  FROM ${sentRowsSql(SETTLED_COLUMNS, 2)} AS r WHERE d.hook_id = r.hook_id AND d.id = r.id`;
