/** The hooks that a registration declares, written in its transaction (HOOK-49). */
import type { AuditEntry } from "@engine/contract";
import { lock, type Operation, rows } from "../operations/operation.ts";
import { anyOf, matching, sql } from "../operations/sql.ts";
import { raise } from "../ports/epochs.ts";
import type { HookChange, HookRow, NewHookRow } from "./hook-row.ts";
import {
  deleteHooks,
  HOOKS_LOCK,
  hookExists,
  insertHook,
  lockHooks,
  updateHook,
} from "./hook-writes.ts";
import { HOOK_COLUMNS, type StoredHook, toHook } from "./stored-hook.ts";

interface Noted {
  readonly audit?: AuditEntry | undefined;
}

/** What becomes of one hook. */
export type HookEdit =
  | (Noted & { readonly kind: "create"; readonly hook: NewHookRow })
  | (Noted & {
      readonly kind: "change";
      readonly row: HookRow;
      readonly change: HookChange;
      readonly by: string | null;
    })
  | (Noted & { readonly kind: "delete"; readonly row: HookRow });

/** By the hooks that an owner has, what becomes of them; empty: they are as it declares them. */
export type PutHooks = (own: readonly HookRow[]) => readonly HookEdit[];

export interface DeclaredHooks {
  readonly owner_ref: string;
  readonly put: PutHooks;
}

type OwnerType = HookRow["owner_type"];

/** @throws EngineError `hook_exists` where somebody else has a name; what `put` throws. */
export function* putHooks(
  owner_type: OwnerType,
  declared: readonly DeclaredHooks[],
  { dryRun }: { readonly dryRun: boolean },
): Operation<void> {
  // Nobody else makes hooks for these owners meanwhile: mostly there is nothing to be locked.
  if ((yield* editsOf(owner_type, declared)).length === 0) return;
  yield* lock(HOOKS_LOCK);
  const edits = yield* editsOf(owner_type, declared);
  const deleted = edits.flatMap((edit) => (edit.kind === "delete" ? [edit] : []));
  const created = edits.flatMap((edit) => (edit.kind === "create" ? [edit] : []));
  const gone = new Set(deleted.map(({ row }) => row.name));
  yield* refuseTaken(
    created.map(({ hook }) => hook),
    gone,
  );
  if (dryRun) return;
  yield* lockHooks(edits.flatMap((edit) => (edit.kind === "create" ? [] : [edit.row])));
  const notes = new Map(deleted.map(({ row, audit }) => [row.id, audit]));
  // First, since another owner may take over a name.
  if (deleted.length > 0) {
    yield* deleteHooks(
      deleted.map(({ row }) => row),
      ({ id }) => notes.get(id),
    );
  }
  for (const edit of edits)
    if (edit.kind === "change") yield* updateHook(edit.row, edit.change, edit);
  for (const { hook, audit } of created) yield* insertHook(hook, audit);
  if (edits.length > 0) yield* raise("hooks");
}

/** All hooks of an owner that is gone; answers their names (HOOK-51). */
export function* dropHooks(owner_type: OwnerType, owner_ref: string): Operation<readonly string[]> {
  if ((yield* ownedBy(owner_type, [owner_ref])).length === 0) return [];
  yield* lock(HOOKS_LOCK);
  const own = yield* ownedBy(owner_type, [owner_ref]);
  yield* lockHooks(own);
  yield* deleteHooks(own);
  yield* raise("hooks");
  return own.map(({ name }) => name);
}

function* editsOf(
  owner_type: OwnerType,
  declared: readonly DeclaredHooks[],
): Operation<readonly HookEdit[]> {
  const owners = declared.map(({ owner_ref }) => owner_ref);
  const own = Map.groupBy(yield* ownedBy(owner_type, owners), ({ owner_ref }) => owner_ref);
  return declared.flatMap(({ owner_ref, put }) => put(own.get(owner_ref) ?? []));
}

/** By name. */
export function* ownedBy(
  owner_type: OwnerType,
  owners: readonly string[],
): Operation<readonly HookRow[]> {
  const found = yield* rows(sql<StoredHook>`
    SELECT ${HOOK_COLUMNS} FROM hooks
    WHERE ${matching({ owner_type })} AND owner_ref ${anyOf(owners)} ORDER BY name`);
  return found.map(toHook);
}

function* refuseTaken(created: readonly NewHookRow[], gone: ReadonlySet<string>): Operation<void> {
  const names = created.map(({ name }) => name);
  const found = yield* rows(sql<StoredHook>`
    SELECT ${HOOK_COLUMNS} FROM hooks WHERE name ${anyOf(names)} ORDER BY name`);
  const others: NewHookRow[] = found.map(toHook).filter(({ name }) => !gone.has(name));
  for (const hook of created) {
    const other = others.find(({ name }) => name === hook.name);
    if (other) throw hookExists(other);
    others.push(hook);
  }
}
