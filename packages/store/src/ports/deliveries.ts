import type { AuditEntry, DeadReason, DeliveryGuard, DeliveryStatus } from "@engine/contract";
import type { DeliveryKey, DeliveryRow, DueDelivery, FullDelivery } from "../hooks/delivery-row.ts";
import { dueAmong, dueDeliveries, nextDueAt } from "../hooks/due-deliveries.ts";
import { DELIVERY_COLUMNS, type StoredDelivery, toDelivery } from "../hooks/stored-delivery.ts";
import {
  count,
  first,
  now,
  type Operations,
  reads,
  rows,
  run,
  together,
  writes,
  writesOnce,
} from "../operations/operation.ts";
import {
  allOf,
  anyOf,
  assigned,
  forShare,
  forUpdate,
  matching,
  raw,
  type Sql,
  skipLocked,
  sql,
} from "../operations/sql.ts";
import { audited } from "./audit.ts";
import type { Page } from "./port.ts";

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
  /**
   * Of these, those that are due, in no order. Rows of hooks that are gone come too.
   *
   * @param keys Of deliveries of any hooks.
   */
  dueAmong(keys: readonly DeliveryKey[], now: number): Promise<readonly DueDelivery[]>;
  /** The next `next_attempt_at` of a pending row of an enabled hook that lies behind an instant. */
  nextDueAt(after: number): Promise<number | undefined>;
  /** Writes down a try that failed, or that a row is dead. @returns false where it was not as judged. */
  fail(guard: DeliveryGuard, undelivered: Undelivered): Promise<boolean>;
  /** Removes a row whose hook is gone. */
  forget(key: DeliveryKey): Promise<void>;
  /** Removes delivered and dead rows that were settled before an instant; answers how many (HOOK-55). */
  deleteSettled(before: number, limit: number): Promise<number>;
}

export const DELIVERIES: Operations<DeliveryPort> = {
  list: reads(function* (hook_id, filter) {
    const { before, limit, offset } = filter;
    const all = sql`FROM hook_deliveries WHERE ${chosen(hook_id, filter)}`;
    const behind = before === undefined ? raw("") : sql`AND id < ${before}`;
    const [found, [counted]] = yield* together<[StoredDelivery, { total: number }]>(
      sql`SELECT ${DELIVERY_COLUMNS} ${all} ${behind}
        ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`,
      sql`SELECT count(*) AS total ${all}`,
    );
    return { items: found.map(toDelivery), total: counted?.total ?? 0 };
  }),

  find: reads(function* (hook_id, id) {
    const found = yield* first(sql<StoredDelivery & { envelope: string }>`
      SELECT ${DELIVERY_COLUMNS}, envelope FROM hook_deliveries
      WHERE ${isOf({ hook_id, id })}`);
    if (!found) return undefined;
    const { envelope, ...stored } = found;
    return { ...toDelivery(stored), envelope };
  }),

  retry: writes(function* (hook_id, id, audit) {
    const found = yield* first(sql<StoredDelivery>`
      SELECT ${DELIVERY_COLUMNS} FROM hook_deliveries
      WHERE ${isOf({ hook_id, id })} ${forUpdate}`);
    if (!found) return undefined;
    if (found.status !== "dead") return found.status;
    yield* run(sql`${HAND_BACK} WHERE ${isOf({ hook_id, id })}`);
    const changes = { status: { before: "dead", after: "pending" } };
    yield* audited(audit && { ...audit, changes });
    return toDelivery({ ...found, ...HANDED_BACK });
  }),

  retryMany: writes(function* (hook_id, { dead_reason, settled_before, limit }, audit) {
    // Whoever deletes the hook locks it before its deliveries.
    yield* run(sql`SELECT id FROM hooks WHERE id = ${hook_id} ${forShare}`);
    const which = sql`${chosen(hook_id, { status: "dead", dead_reason })}
      AND settled_at < ${settled_before}`;
    const found = yield* rows(sql<{ id: string }>`
      SELECT id FROM hook_deliveries WHERE ${which} ORDER BY id LIMIT ${limit} ${forUpdate}`);
    const ids = found.map(({ id }) => id);
    const retried = yield* count(sql`${HAND_BACK} WHERE hook_id = ${hook_id} AND id ${anyOf(ids)}`);
    const left = yield* first(sql<{ remaining: number }>`
      SELECT count(*) AS remaining FROM hook_deliveries WHERE ${which}`);
    const changes = { retried: { before: null, after: retried } };
    if (retried > 0) yield* audited(audit && { ...audit, changes });
    return { retried, remaining: left?.remaining ?? 0 };
  }),

  due: reads(dueDeliveries),

  dueAmong: reads(dueAmong),

  nextDueAt: reads(nextDueAt),

  fail: writesOnce(function* (guard, { attempts, error, dead_reason, next_attempt_at }) {
    const at = yield* now();
    const isDead = dead_reason !== null;
    const set = assigned({
      status: isDead ? "dead" : "pending",
      attempts,
      error: storable(error),
      dead_reason,
      due_at: isDead ? 0 : (next_attempt_at ?? 0),
      settled_at: isDead ? at : null,
    });
    return (yield* count(sql`UPDATE hook_deliveries SET ${set} WHERE ${asJudged(guard)}`)) > 0;
  }),

  forget: writesOnce((key) =>
    run(sql`DELETE FROM hook_deliveries
      WHERE ${isOf(key)} AND NOT EXISTS (SELECT 1 FROM hooks WHERE hooks.id = hook_id)`),
  ),

  deleteSettled: writesOnce(function* (before, limit) {
    return yield* count(sql`
      DELETE FROM hook_deliveries WHERE (hook_id, id) IN (
        SELECT hook_id, id FROM hook_deliveries WHERE settled_at IS NOT NULL AND settled_at < ${before}
        ORDER BY settled_at LIMIT ${limit} ${skipLocked})`);
  }),
};

/** What a delivery has that is handed back to the drain. */
const HANDED_BACK = {
  status: "pending",
  attempts: 0,
  error: null,
  dead_reason: null,
  due_at: 0,
  settled_at: null,
} as const;

const HAND_BACK: Sql = sql`UPDATE hook_deliveries SET ${assigned(HANDED_BACK)}`;

function isOf({ hook_id, id }: DeliveryKey): Sql {
  return sql`hook_id = ${hook_id} AND id = ${id}`;
}

/** The delivery of a guard, as long as that holds. */
function asJudged({ delivery_id, attempts, hook_id, revision }: DeliveryGuard): Sql {
  return sql`${isOf({ hook_id, id: delivery_id })} AND status = 'pending'
    AND attempts = ${attempts}
    AND EXISTS (SELECT 1 FROM hooks WHERE hooks.id = hook_id AND hooks.revision = ${revision})`;
}

/** Words of ours stand in the statement as they are: that is how an index of one status serves it. */
function chosen(
  hook_id: string,
  { status, dead_reason, source_execution_id }: Partial<DeliveryFilter>,
): Sql {
  const conditions = [sql`hook_id = ${hook_id}`, matching({ dead_reason })];
  const asked = status ?? (dead_reason && "dead");
  if (asked !== undefined) conditions.push(sql`status = ${WORDS[asked]}`);
  if (source_execution_id !== undefined) {
    // Keys of its events begin with its id and a colon, which a semicolon follows.
    conditions.push(sql`event_key >= ${`${source_execution_id}:`}
      AND event_key < ${`${source_execution_id};`}`);
  }
  return allOf(conditions);
}

const WORDS: Readonly<Record<DeliveryStatus, Sql>> = {
  pending: raw("'pending'"),
  delivered: raw("'delivered'"),
  dead: raw("'dead'"),
};

/** A text that both databases take: an error may hold what somebody sent. */
function storable(text: string): string {
  return text.replaceAll("\u0000", "\ufffd").toWellFormed();
}
