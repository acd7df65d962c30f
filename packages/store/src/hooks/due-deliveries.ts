/**
 * Which deliveries are tried next, round robin among hooks (HOOK-24). The first question is which hooks
 * have any that are due; the second takes as many of each as its share could be.
 */
import { first, type Operation, rows, together } from "../operations/operation.ts";
import { anyOf, type ByDialect, raw, rowsOf, type Sql, sql } from "../operations/sql.ts";
import type { DeliveryKey, DueDelivery } from "./delivery-row.ts";
import type { HookRow } from "./hook-row.ts";
import { deliveryColumnsOf, type StoredDelivery, toDelivery } from "./stored-delivery.ts";
import { HOOK_COLUMNS, hookColumnsOf, type StoredHook, toHook } from "./stored-hook.ts";

export interface DueAsked {
  readonly now: number;
  readonly limit: number;
  readonly after: string | null;
  readonly but: readonly string[];
}

/** Behind every instant. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER;

/** A hook with rows that are due; without one, rows that a hook has left behind. */
interface Waiting {
  readonly hook_id: string;
  readonly name: string;
  readonly hook_row: HookRow | null;
  /** The last instant at which what is due now may be due. */
  readonly until: number;
}

export function* dueDeliveries({
  now,
  limit,
  after,
  but,
}: DueAsked): Operation<readonly DueDelivery[]> {
  const waiting = inTurn(yield* waitingHooks(now), after);
  // So many that the first round fills the pass, also where one has nothing but what is left out.
  const some = waiting.slice(0, limit + but.length);
  if (some.length === 0) return [];
  return roundRobin(yield* dueOf(some, { limit, but }), limit);
}

/** Those of some deliveries that are due, in no order. */
export function* dueAmong(
  keys: readonly DeliveryKey[],
  now: number,
): Operation<readonly DueDelivery[]> {
  type Stored = StoredDelivery & { readonly envelope: string };
  const asked = keys.map(({ hook_id, id }) => ({ hook_id, id }));
  const ofThem = [...new Set(keys.map(({ hook_id }) => hook_id))];
  const [found, stored] = yield* together<[Stored, StoredHook]>(
    sql`
      SELECT ${deliveryColumnsOf("d")}, d.envelope
      FROM ${rowsOf({ hook_id: "text", id: "text" }, asked)}
      JOIN hook_deliveries AS d ON d.hook_id = r.hook_id AND d.id = r.id
      WHERE d.status = 'pending'`,
    sql`SELECT ${HOOK_COLUMNS} FROM hooks WHERE id ${anyOf(ofThem)}`,
  );
  const hooks = new Map(stored.map((hook) => [hook.id, toHook(hook)]));
  return found.flatMap(({ envelope, ...delivery }) => {
    const hook_row = hooks.get(delivery.hook_id) ?? null;
    if (hook_row?.enabled && delivery.due_at > now) return [];
    return [{ ...toDelivery(delivery), envelope, hook_row }];
  });
}

/** The next instant at which a row of an enabled hook becomes due. */
export function* nextDueAt(after: number): Operation<number | undefined> {
  const row = yield* first(sql<{ at: number | null }>`
    ${WAITING}
    SELECT min((
      SELECT d.due_at FROM hook_deliveries AS d
      WHERE d.hook_id = waiting.hook_id AND d.status = 'pending' AND d.due_at > ${after}
      ORDER BY d.due_at LIMIT 1)) AS at
    FROM waiting JOIN hooks AS h ON h.id = waiting.hook_id AND h.enabled = 1`);
  return row?.at ?? undefined;
}

/**
 * Hooks with pending rows, as `waiting (hook_id)`: from each the next one is found by the index, however
 * many rows the first has.
 */
const WAITING: Sql = sql`
  WITH RECURSIVE waiting (hook_id) AS (
    SELECT * FROM (
      SELECT hook_id FROM hook_deliveries WHERE status = 'pending' ORDER BY hook_id LIMIT 1
    ) AS one
    UNION ALL
    SELECT (
      SELECT d.hook_id FROM hook_deliveries AS d
      WHERE d.status = 'pending' AND d.hook_id > waiting.hook_id ORDER BY d.hook_id LIMIT 1)
    FROM waiting WHERE waiting.hook_id IS NOT NULL)`;

type StoredWaiting = { readonly [Name in keyof StoredHook]: StoredHook[Name] | null } & {
  readonly hook_id: string;
  readonly first_name: string | null;
};

function* waitingHooks(now: number): Operation<readonly Waiting[]> {
  const found = yield* rows(sql<StoredWaiting>`
    ${WAITING}
    SELECT waiting.hook_id, ${ofFirst("hook")} AS first_name, ${hookColumnsOf("h")}
    FROM waiting LEFT JOIN hooks AS h ON h.id = waiting.hook_id
    WHERE waiting.hook_id IS NOT NULL
      AND (h.id IS NULL OR h.enabled = 0 OR ${ofFirst("due_at")} <= ${now})`);
  return found.map(({ hook_id, first_name, ...hook }) => {
    const hook_row = hook.id === null ? null : toHook(hook as StoredHook);
    // Nothing that a disabled hook has left is tried, so that none of it need wait (HOOK-23).
    const until = hook_row?.enabled ? now : END_OF_TIME;
    return { hook_id, name: hook_row?.name ?? first_name ?? "", hook_row, until };
  });
}

/** Of the pending row of a hook that is due first. */
function ofFirst(column: "hook" | "due_at"): Sql {
  return sql`(
    SELECT d.${raw(column)} FROM hook_deliveries AS d
    WHERE d.hook_id = waiting.hook_id AND d.status = 'pending' ORDER BY d.due_at, d.id LIMIT 1)`;
}

/** In cyclic order of their names, behind the one at which the last pass stopped. */
function inTurn(waiting: readonly Waiting[], after: string | null): readonly Waiting[] {
  const inOrder = waiting.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const next = after === null ? 0 : inOrder.findIndex(({ name }) => name > after);
  return next <= 0 ? inOrder : [...inOrder.slice(next), ...inOrder.slice(0, next)];
}

/**
 * What of some hooks is due, of each the oldest first: at least as many of each as are taken of it.
 */
function* dueOf(
  waiting: readonly Waiting[],
  { limit, but }: { readonly limit: number; readonly but: readonly string[] },
): Operation<readonly (readonly DueDelivery[])[]> {
  for (let share = Math.ceil(limit / waiting.length); ; share *= 2) {
    const found = yield* shareOfEach(waiting, { share, but });
    let total = 0;
    for (const one of found) total += one.length;
    const isAll = share >= limit || found.every(({ length }) => length < share);
    if (isAll || total >= limit) return found;
  }
}

function* shareOfEach(
  waiting: readonly Waiting[],
  { share, but }: { readonly share: number; readonly but: readonly string[] },
): Operation<readonly (readonly DueDelivery[])[]> {
  const asked = waiting.map(({ hook_id, until }) => ({ hook_id, until }));
  const found = yield* rows(sql<StoredDelivery & { envelope: string }>`
    SELECT ${deliveryColumnsOf("d")}, d.envelope
    FROM ${rowsOf({ hook_id: "text", until: "bigint" }, asked)}
    ${joinedTo(dueIds(share, but))}
    ORDER BY d.id`);
  const byHook = Map.groupBy(found, ({ hook_id }) => hook_id);
  return waiting.map(({ hook_id, hook_row }) =>
    (byHook.get(hook_id) ?? []).slice(0, share).map(({ envelope, ...stored }) => {
      return { ...toDelivery(stored), envelope, hook_row };
    }),
  );
}

/** Those that were never tried, and those whose time has come: each is in the order of the index. */
function dueIds(share: number, but: readonly string[]): Sql {
  const mine = sql`p.hook_id = r.hook_id AND p.status = 'pending' AND NOT (p.id ${anyOf(but)})`;
  return sql`
    SELECT id FROM (
      SELECT p.id FROM hook_deliveries AS p WHERE ${mine} AND p.due_at = 0
      ORDER BY p.id LIMIT ${share}) AS untried
    UNION ALL
    SELECT id FROM (
      SELECT p.id FROM hook_deliveries AS p
      WHERE ${mine} AND p.due_at > 0 AND p.due_at <= r.until
      ORDER BY p.due_at, p.id LIMIT ${share}) AS deferred`;
}

/** The deliveries with ids that a query gives for each row of `r`. */
function joinedTo(ids: Sql): ByDialect {
  return {
    sqlite: sql`JOIN hook_deliveries AS d ON d.hook_id = r.hook_id AND d.id IN (${ids})`,
    postgres: sql`CROSS JOIN LATERAL (${ids}) AS due
      JOIN hook_deliveries AS d ON d.hook_id = r.hook_id AND d.id = due.id`,
  };
}

/** One of each hook in a round. */
function roundRobin(
  found: readonly (readonly DueDelivery[])[],
  limit: number,
): readonly DueDelivery[] {
  const taken: DueDelivery[] = [];
  for (let round = 0; taken.length < limit; round++) {
    const before = taken.length;
    for (const one of found) {
      const next = one[round];
      if (next && taken.length < limit) taken.push(next);
    }
    if (taken.length === before) break;
  }
  return taken;
}
