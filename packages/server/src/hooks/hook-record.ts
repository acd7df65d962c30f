/** Hooks and deliveries as callers are told of them. */
import {
  type DeliveryRecord,
  type DetailedDelivery,
  type DetailedHook,
  formatInstant,
  type HookProblem,
  type HookRecord,
  readEnvelope,
  withoutEventValue,
} from "@engine/contract";
import type { DeliveryRow, FullDelivery, HookPort, HookRow } from "@engine/store";
import { instant } from "../executions/record.ts";

/** How a hook is doing: what became of its deliveries, and what would stop the next one. */
export interface HookState extends Awaited<ReturnType<HookPort["status"]>> {
  readonly row: HookRow;
  readonly problems: readonly HookProblem[];
}

export function toHookRecord(row: HookRow): HookRecord {
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    selectors: [...row.selectors],
    workflow: row.workflow,
    principal: row.principal,
    max_attempts: row.max_attempts,
    owner_type: row.owner_type,
    owner_ref: row.owner_ref,
    created_at: formatInstant(row.created_at),
    created_by: row.created_by,
    updated_at: formatInstant(row.updated_at),
    updated_by: row.updated_by,
  };
}

export function toDetailedHook({ row, problems, ...counts }: HookState): DetailedHook {
  const last_delivered_at = instant(counts.last_delivered_at);
  const { pending, dead } = counts;
  const status = { pending, dead, last_delivered_at, problems: [...problems] };
  return { ...toHookRecord(row), status };
}

export function toDeliveryRecord(row: DeliveryRow): DeliveryRecord {
  const record = {
    id: row.id,
    hook: row.hook,
    event_key: row.event_key,
    status: row.status,
    attempts: row.attempts,
    hop: row.hop,
    selector: row.selector,
    event_type: row.event_type,
    source_workflow: row.source_workflow,
    execution_id: row.execution_id,
    error: row.error,
    dead_reason: row.dead_reason,
    next_attempt_at: instant(row.next_attempt_at),
    created_at: formatInstant(row.created_at),
    settled_at: instant(row.settled_at),
  };
  // What goes with which status was decided where the row was written.
  return record as DeliveryRecord;
}

/**
 * A delivery with what its target is started with.
 *
 * @param isReadable Whether the reader may read the workflow whose event it is (HOOK-3).
 */
export function toDetailedDelivery(row: FullDelivery, isReadable: boolean): DetailedDelivery {
  const stored = readEnvelope(row.envelope);
  const envelope = (isReadable ? stored : stored && withoutEventValue(stored)) ?? null;
  return { ...toDeliveryRecord(row), envelope };
}
