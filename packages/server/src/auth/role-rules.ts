import { EngineError, isBuiltInRole, type RoleChanges } from "@engine/contract";
import type { RolePatch, RoleRow } from "@engine/store";

/** @throws EngineError `built_in_role` for one of the engine's own (AUTH-24). */
export function refuseBuiltIn(name: string, what: "changed" | "deleted"): void {
  if (!isBuiltInRole(name)) return;
  throw new EngineError(
    "built_in_role",
    `role ${name} is the engine's own and cannot be ${what}; clone it under another name`,
  );
}

/** Permissions as roles and keys have them: each once, by name. */
export function sortedPermissions(permissions: readonly string[]): readonly string[] {
  return [...new Set(permissions)].sort();
}

/** What changes make of a role: those that are added come before those that are removed. */
export function changedRole(row: RoleRow, changes: RoleChanges): RolePatch {
  const { description = row.description, permissions = row.permissions } = changes;
  const { add_permissions = [], remove_permissions = [] } = changes;
  const kept = [...permissions, ...add_permissions].filter(
    (permission) => !remove_permissions.includes(permission),
  );
  return { description, permissions: sortedPermissions(kept) };
}
