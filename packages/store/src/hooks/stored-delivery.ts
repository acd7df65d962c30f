/** How a delivery lies in its table. */
import type { DeadReason, DeliveryStatus } from "@engine/contract";
import { raw, type Sql } from "../operations/sql.ts";
import type { DeliveryRow } from "./delivery-row.ts";

export interface StoredDelivery {
  readonly id: string;
  readonly hook_id: string;
  readonly hook: string;
  readonly event_key: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly hop: number;
  readonly selector: string;
  readonly event_type: string;
  readonly source_workflow: string;
  readonly execution_id: string | null;
  readonly error: string | null;
  readonly dead_reason: DeadReason | null;
  /** 0: at once, or it is settled. */
  readonly due_at: number;
  readonly created_at: number;
  readonly settled_at: number | null;
}

const NAMES = [
  ...(["id", "hook_id", "hook", "event_key", "status", "attempts", "hop", "selector"] as const),
  ...(["event_type", "source_workflow", "execution_id", "error", "dead_reason", "due_at"] as const),
  ...(["created_at", "settled_at"] as const),
] satisfies readonly (keyof StoredDelivery)[];

/** All but the envelope, in a statement that has other tables too. */
export function deliveryColumnsOf(table: string): Sql<StoredDelivery> {
  return raw(NAMES.map((name) => `${table}.${name}`).join(", "));
}

export const DELIVERY_COLUMNS: Sql<StoredDelivery> = raw(NAMES.join(", "));

export function toDelivery({ due_at, ...row }: StoredDelivery): DeliveryRow {
  const source_execution_id = row.event_key.slice(0, row.event_key.lastIndexOf(":"));
  return { ...row, source_execution_id, next_attempt_at: due_at === 0 ? null : due_at };
}
