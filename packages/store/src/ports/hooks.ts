import type { AuditEntry, HookOwnerType } from "@engine/contract";
import { ownedBy } from "../hooks/declared-hooks.ts";
import type { HookChange, HookRow, NewHookRow } from "../hooks/hook-row.ts";
import {
  deleteHooks,
  HOOKS_LOCK,
  hookExists,
  insertHook,
  updateHook,
} from "../hooks/hook-writes.ts";
import { HOOK_COLUMNS, type StoredHook, toHook } from "../hooks/stored-hook.ts";
import {
  first,
  lock,
  type Operation,
  type Operations,
  page,
  reads,
  writes,
} from "../operations/operation.ts";
import { matching, raw, sql } from "../operations/sql.ts";
import { raise } from "./epochs.ts";
import type { Page } from "./port.ts";

/** What a change was checked for, and who makes it. */
export interface HookPlace {
  /** Absent: of whichever hook has the name. */
  readonly hook_id?: string;
  readonly revision: number;
  readonly by: string | null;
}

export interface HookFilter {
  readonly enabled_only?: boolean | undefined;
  readonly owner_type?: HookOwnerType | undefined;
  readonly owner_ref?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Named subscriptions to events. Each change raises the epoch of hooks. */
export interface HookPort {
  /** By name. */
  list(filter: HookFilter): Promise<Page<HookRow>>;
  find(name: string): Promise<HookRow | undefined>;
  /** All that these workflows or agents declare, by name. */
  ownedBy(owner_type: HookOwnerType, owners: readonly string[]): Promise<readonly HookRow[]>;
  /** Rejects `hook_exists`, with its owner, where the name is taken. */
  create(hook: NewHookRow, audit?: AuditEntry): Promise<HookRow>;
  /**
   * Changes a hook, if it is still the one, at the revision, that the change was checked for (HOOK-37).
   * One that stays as it was keeps its revision and its instant, and nothing is written down of it.
   *
   * @returns The hook as it is now; undefined where there is none, "stale" at another revision, and of
   * another hook that has the name by now.
   */
  change(
    name: string,
    change: HookChange,
    at: HookPlace,
    audit?: AuditEntry,
  ): Promise<HookRow | "stale" | undefined>;
  /** Deletes a hook with its deliveries; answers how many of them were pending, undefined where there is no hook. */
  delete(name: string, audit?: AuditEntry): Promise<number | undefined>;
  status(hook_id: string): Promise<{
    readonly pending: number;
    readonly dead: number;
    readonly last_delivered_at: number | null;
  }>;
}

export const HOOKS: Operations<HookPort> = {
  list: reads(({ enabled_only, owner_type, owner_ref, limit, offset }) => {
    const which = matching({ owner_type, owner_ref, enabled: enabled_only ? 1 : undefined });
    const from = sql`FROM hooks WHERE ${which}`;
    return page({ columns: HOOK_COLUMNS, from, order: raw("name"), limit, offset }, toHook);
  }),

  find: reads(find),

  ownedBy: reads(ownedBy),

  create: writes(function* (hook, audit) {
    yield* lock(HOOKS_LOCK);
    const other = yield* find(hook.name);
    if (other) throw hookExists(other);
    const row = yield* insertHook(hook, audit);
    yield* raise("hooks");
    return row;
  }),

  change: writes(function* (name, change, { hook_id, revision, by }, audit) {
    yield* lock(HOOKS_LOCK);
    const before = yield* find(name);
    if (!before) return undefined;
    const isOther = hook_id !== undefined && before.id !== hook_id;
    if (isOther || before.revision !== revision) return "stale";
    const after = yield* updateHook(before, change, { by, audit });
    if (!after) return before;
    yield* raise("hooks");
    return after;
  }),

  delete: writes(function* (name, audit) {
    yield* lock(HOOKS_LOCK);
    const before = yield* find(name);
    if (!before) return undefined;
    const pending = yield* deleteHooks([before], () => audit);
    yield* raise("hooks");
    return pending;
  }),

  status: reads(function* (hook_id) {
    const row = yield* first(sql<StoredStatus>`
      SELECT
        (SELECT count(*) FROM hook_deliveries
          WHERE hook_id = ${hook_id} AND status = 'pending') AS pending,
        (SELECT count(*) FROM hook_deliveries
          WHERE hook_id = ${hook_id} AND status = 'dead') AS dead,
        (SELECT max(settled_at) FROM hook_deliveries
          WHERE hook_id = ${hook_id} AND status = 'delivered') AS last_delivered_at`);
    return row ?? { pending: 0, dead: 0, last_delivered_at: null };
  }),
};

interface StoredStatus {
  readonly pending: number;
  readonly dead: number;
  readonly last_delivered_at: number | null;
}

function* find(name: string): Operation<HookRow | undefined> {
  const found = yield* first(sql<StoredHook>`
    SELECT ${HOOK_COLUMNS} FROM hooks WHERE name = ${name}`);
  return found && toHook(found);
}
