/** How a hook lies in its table: its selectors are JSON. */
import type { HookOwnerType } from "@engine/contract";
import { raw, type Sql } from "../operations/sql.ts";
import type { HookRow } from "./hook-row.ts";

export interface StoredHook {
  readonly id: string;
  readonly name: string;
  readonly enabled: number;
  readonly selectors: string;
  readonly workflow: string;
  readonly principal: string;
  readonly max_attempts: number;
  readonly owner_type: HookOwnerType;
  readonly owner_ref: string | null;
  readonly created_at: number;
  readonly created_by: string | null;
  readonly updated_at: number;
  readonly updated_by: string | null;
  readonly revision: number;
}

const NAMES = [
  ...(["id", "name", "enabled", "selectors", "workflow", "principal", "max_attempts"] as const),
  ...(["owner_type", "owner_ref", "created_at", "created_by", "updated_at"] as const),
  ...(["updated_by", "revision"] as const),
] satisfies readonly (keyof StoredHook)[];

export const HOOK_COLUMNS: Sql<StoredHook> = raw(NAMES.join(", "));

/** The same, in a statement that has other tables too. */
export function hookColumnsOf(table: string): Sql<StoredHook> {
  return raw(NAMES.map((name) => `${table}.${name}`).join(", "));
}

export function toHook(row: StoredHook): HookRow {
  return { ...row, enabled: row.enabled === 1, selectors: JSON.parse(row.selectors) };
}

export function storedHook(
  row: HookRow,
): Readonly<Record<keyof StoredHook, string | number | null>> {
  return { ...row, enabled: row.enabled ? 1 : 0, selectors: JSON.stringify(row.selectors) };
}

/** What matching has to know of hooks. */
export const ENABLED_HOOKS_SQL =
  "SELECT id, name, selectors FROM hooks WHERE enabled = 1 ORDER BY name";
