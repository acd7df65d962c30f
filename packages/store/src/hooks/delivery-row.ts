import type { DeadReason, DeliveryStatus } from "@engine/contract";
import type { HookRow } from "./hook-row.ts";

/** What a delivery is found by. */
export interface DeliveryKey {
  readonly hook_id: string;
  readonly id: string;
}

/** A delivery of an event to a hook, without its envelope. Instants are milliseconds since 1970. */
export interface DeliveryRow extends DeliveryKey {
  /** Name of the hook. */
  readonly hook: string;
  readonly event_key: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly hop: number;
  readonly selector: string;
  readonly event_type: string;
  readonly source_workflow: string;
  readonly source_execution_id: string;
  readonly execution_id: string | null;
  readonly error: string | null;
  readonly dead_reason: DeadReason | null;
  readonly next_attempt_at: number | null;
  readonly created_at: number;
  readonly settled_at: number | null;
}

/** With its envelope as JSON text, which may be anything where somebody has changed the database. */
export interface FullDelivery extends DeliveryRow {
  readonly envelope: string;
}

/** A delivery that is due, and its hook; null: that is gone. */
export interface DueDelivery extends FullDelivery {
  readonly hook_row: HookRow | null;
}
