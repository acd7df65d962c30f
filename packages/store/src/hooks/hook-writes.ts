/** How hooks are written, by a request or because a workflow declares them; in a transaction that has the lock. */
import { type AuditEntry, EngineError } from "@engine/contract";
import { now, type Operation, rows, run } from "../operations/operation.ts";
import { anyOf, assigned, type ByDialect, forUpdate, insertInto, sql } from "../operations/sql.ts";
import { audited } from "../ports/audit.ts";
import { changesBetween } from "../ports/identity-write.ts";
import type { HookChange, HookRow, NewHookRow } from "./hook-row.ts";
import { storedHook } from "./stored-hook.ts";

export const HOOKS_LOCK = "hooks";

/** Of a change, what the audit log keeps. */
const AUDITED = ["enabled", "selectors", "workflow", "principal", "max_attempts"] as const;

export function* insertHook(hook: NewHookRow, audit?: AuditEntry): Operation<HookRow> {
  const at = yield* now();
  const times = { created_at: at, updated_at: at, updated_by: hook.created_by };
  const row: HookRow = { ...hook, ...times, revision: 1 };
  yield* run(insertInto("hooks", storedHook(row)));
  yield* audited(audit && { ...audit, changes: changesBetween(null, row, AUDITED) });
  return row;
}

/** @returns Undefined where it has all of that already: then nothing is written. */
export function* updateHook(
  before: HookRow,
  change: HookChange,
  { by, audit }: { readonly by: string | null; readonly audit?: AuditEntry | undefined },
): Operation<HookRow | undefined> {
  const changed: HookRow = { ...before, ...change };
  const changes = changesBetween(before, changed, AUDITED);
  if (changes === null) return undefined;
  const times = { updated_at: yield* now(), updated_by: by };
  const after: HookRow = { ...changed, ...times, revision: before.revision + 1 };
  const { id, name: _, ...columns } = storedHook(after);
  yield* run(sql`UPDATE hooks SET ${assigned(columns)} WHERE id = ${id}`);
  yield* audited(audit && { ...audit, changes });
  return after;
}

/** With their deliveries; answers how many of those were pending. */
export function* deleteHooks(
  hooks: readonly HookRow[],
  auditOf: (hook: HookRow) => AuditEntry | undefined = () => undefined,
): Operation<number> {
  const ids = hooks.map(({ id }) => id);
  // The hook comes first, as with everybody who locks both.
  yield* run(sql`DELETE FROM hooks WHERE id ${anyOf(ids)}`);
  const dropped = yield* rows(sql<{ pending: number }>`${countedAndLocked(ids)}`);
  yield* run(sql`DELETE FROM hook_deliveries WHERE hook_id ${anyOf(ids)}`);
  for (const hook of hooks) {
    const audit = auditOf(hook);
    yield* audited(audit && { ...audit, changes: changesBetween(hook, null, AUDITED) });
  }
  return dropped[0]?.pending ?? 0;
}

/** In the order of their ids, as by those who hand many back at once. */
function countedAndLocked(ids: readonly string[]): ByDialect {
  const of = sql`FROM hook_deliveries WHERE hook_id ${anyOf(ids)}`;
  return {
    sqlite: sql`SELECT count(*) AS pending ${of} AND status = 'pending'`,
    postgres: sql`SELECT count(*) FILTER (WHERE status = 'pending') AS pending
      FROM (SELECT status ${of} ORDER BY id FOR UPDATE) AS locked`,
  };
}

/** Several hooks are locked in the order of their ids, as by those who start what they ask for. */
export function* lockHooks(hooks: readonly HookRow[]): Operation<void> {
  const ids = hooks.map(({ id }) => id);
  if (ids.length < 2) return;
  yield* rows(sql`SELECT id FROM hooks WHERE id ${anyOf(ids)} ORDER BY id ${forUpdate}`);
}

export function hookExists({ name, owner_type, owner_ref }: NewHookRow): EngineError {
  const whose = owner_ref === null ? "" : `, declared by ${owner_ref}`;
  return new EngineError("hook_exists", `hook ${name} exists${whose}; choose another name`, {
    details: { owner_type, owner_ref },
  });
}
