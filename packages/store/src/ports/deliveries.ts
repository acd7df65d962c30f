import type { AuditEntry, DeadReason, DeliveryStatus } from "@engine/contract";
import type { HookRow } from "./hooks.ts";
import type { Page } from "./port.ts";

/** A delivery of an event to a hook, without its envelope. Instants are milliseconds since 1970. */
export interface DeliveryRow {
  readonly id: string;
  readonly hook_id: string;
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

export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly dead_reason?: DeadReason | undefined;
  readonly source_execution_id?: string | undefined;
  /** Only those behind this delivery in the list. */
  readonly before?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface DeadFilter {
  readonly dead_reason?: DeadReason | undefined;
  /** Milliseconds since 1970. */
  readonly settled_before: number;
  readonly limit: number;
}

/** What a try of a delivery was judged by: nothing is written once any of it is otherwise (HOOK-26). */
export interface DeliveryGuard {
  readonly delivery_id: string;
  /** Before the try. */
  readonly attempts: number;
  readonly hook_id: string;
  readonly revision: number;
}

/** What becomes of a delivery that started nothing. */
export interface Undelivered {
  readonly attempts: number;
  readonly error: string;
  /** Null: it is tried again. */
  readonly dead_reason: DeadReason | null;
  readonly next_attempt_at: number | null;
}

/**
 * The outbox of hooks. Rows come with the events that they are of, as their `EventRecords`; the start of
 * a target settles its row in the transaction that creates the execution (`NewExecution.delivery`).
 */
export interface DeliveryPort {
  /** Of one hook, newest first. */
  list(hook_id: string, filter: DeliveryFilter): Promise<Page<DeliveryRow>>;
  find(hook_id: string, id: string): Promise<FullDelivery | undefined>;
  /** By its id alone, of whichever hook. */
  findById(id: string): Promise<DeliveryRow | undefined>;
  /**
   * Hands a dead one back to the drain (HOOK-37).
   *
   * @returns It as it is now; undefined where the hook has none of this id; its status where it is not dead.
   */
  retry(
    hook_id: string,
    id: string,
    audit?: AuditEntry,
  ): Promise<DeliveryRow | DeliveryStatus | undefined>;
  /** The same with several, oldest first. */
  retryMany(
    hook_id: string,
    filter: DeadFilter,
    audit?: AuditEntry,
  ): Promise<{ readonly retried: number; readonly remaining: number }>;
  /**
   * Those that are due, round robin: hooks with due rows in cyclic order of their names behind `after`,
   * one row of a hook in a round, the oldest first (HOOK-24). Costs by what it answers and the number of
   * hooks with pending rows, not by the backlog. Rows of hooks that are gone come too.
   *
   * @param after Name of the hook at which the last pass stopped; null: from the first.
   * @param but Ids that are left out: they are being tried.
   */
  due(asked: {
    readonly now: number;
    readonly limit: number;
    readonly after: string | null;
    readonly but: readonly string[];
  }): Promise<readonly DueDelivery[]>;
  /** The next `next_attempt_at` of a pending row of an enabled hook that lies behind an instant. */
  nextDueAt(after: number): Promise<number | undefined>;
  /** Writes down a try that failed, or that a row is dead. @returns false where it was not as judged. */
  fail(guard: DeliveryGuard, undelivered: Undelivered): Promise<boolean>;
  /** Settles a row on the execution that it has started already (HOOK-30). */
  settle(guard: DeliveryGuard, execution_id: string): Promise<boolean>;
  /** Removes a row whose hook is gone. */
  forget(id: string): Promise<void>;
  /** Removes delivered and dead rows that were settled before an instant; answers how many (HOOK-55). */
  deleteSettled(before: number, limit: number): Promise<number>;
}
