import { BUILT_IN_ROLES, covers, EngineError, isBuiltInRole } from "@engine/contract";
import {
  first,
  now,
  type Operation,
  type Operations,
  page,
  reads,
  rows,
  run,
  writes,
} from "../operations/operation.ts";
import {
  anyOf,
  assigned,
  type ByDialect,
  insertInto,
  raw,
  rowsOf,
  sql,
} from "../operations/sql.ts";
import { changesBetween, type IdentityWrite, identityWrite } from "./identity-write.ts";
import type { Page } from "./port.ts";

/** A role, of the engine's own or stored. */
export interface RoleRow {
  readonly name: string;
  readonly description: string | null;
  /** Sorted. */
  readonly permissions: readonly string[];
  readonly built_in: boolean;
  /** Milliseconds since 1970; null of the engine's own. */
  readonly created_at: number | null;
  readonly updated_at: number | null;
}

export type NewRoleRow = Pick<RoleRow, "name" | "description" | "permissions">;
export type RolePatch = Partial<Pick<RoleRow, "description" | "permissions">>;

/** What to write of a role as it is in the transaction. Must be pure: it may run again. */
export type DecideRole = (row: RoleRow) => RolePatch;

/** Named sets of permissions. The engine's own are read here like the others, and never written. */
export interface RolePort {
  /** By name. */
  list(page: { readonly limit: number; readonly offset: number }): Promise<Page<RoleRow>>;
  find(name: string): Promise<RoleRow | undefined>;
  /** Rejects `conflict` when the name is taken. */
  create(role: NewRoleRow, write: IdentityWrite): Promise<RoleRow>;
  /** The same with the description and the permissions of another role; undefined without that. */
  clone(name: string, new_name: string, write: IdentityWrite): Promise<RoleRow | undefined>;
  /** Undefined when there is none. Permissions that the role did not give before are conferred. */
  change(name: string, decide: DecideRole, write: IdentityWrite): Promise<RoleRow | undefined>;
  /** False when there is none. Rejects `role_in_use` for one that is assigned, unless it is forced. */
  delete(name: string, how: { readonly force: boolean }, write: IdentityWrite): Promise<boolean>;
}

export const ROLES: Operations<RolePort> = {
  list: reads((asked) => {
    const columns = sql<StoredRole>`name, description, permissions, created_at, updated_at`;
    const from = sql`FROM (
      SELECT name, description, permissions, created_at, updated_at FROM ${BUILT_IN}
      UNION ALL
      SELECT name, description, permissions, created_at, updated_at FROM roles) AS all_roles`;
    return page({ columns, from, order: sql`${BY_NAME}`, ...asked }, toRole);
  }),

  find: reads(find),

  create: writes((role, write) => identityWrite(write, creation(role, write))),

  clone: writes((name, new_name, write) => {
    function* change() {
      const found = yield* find(name);
      if (!found) return { value: undefined, changes: null };
      const { description, permissions } = found;
      return yield* creation({ name: new_name, description, permissions }, write);
    }
    return identityWrite(write, change());
  }),

  change: writes((name, decide, write) => {
    function* change() {
      const before = yield* find(name);
      if (!before || before.built_in) return { value: before, changes: null };
      const patched = { ...before, ...decide(before) };
      const changes = changesBetween(before, patched, ["description", "permissions"]);
      if (changes === null) return { value: before, changes };
      write.confer(notGivenBy(before.permissions, patched.permissions));
      const after = { ...patched, updated_at: yield* now() };
      const { name: _, ...columns } = stored(after);
      yield* run(sql`UPDATE roles SET ${assigned(columns)} WHERE name = ${name}`);
      return { value: after, changes };
    }
    return identityWrite(write, change());
  }),

  delete: writes((name, { force }, write) => {
    function* change() {
      const role = yield* find(name);
      if (!role || role.built_in) return { value: false, changes: null };
      const holders = yield* rows(
        sql`SELECT DISTINCT principal_id FROM principal_roles WHERE role = ${name}`,
      );
      if (holders.length > 0 && !force) throw roleInUse(name, holders.length);
      yield* run(
        sql`DELETE FROM principal_roles WHERE role = ${name}`,
        sql`DELETE FROM roles WHERE name = ${name}`,
      );
      return { value: true, changes: changesBetween(role, null, ["permissions"]) ?? {} };
    }
    return identityWrite(write, change());
  }),
};

/**
 * All that roles give, each permission once, by name.
 *
 * @throws EngineError `unknown_role` for a name that no role has.
 */
export function* permissionsOfRoles(names: readonly string[]): Operation<readonly string[]> {
  const others = names.filter((name) => !isBuiltInRole(name));
  const found = yield* rows(sql<{ name: string; permissions: string }>`
    SELECT name, permissions FROM roles WHERE name ${anyOf(others)}`);
  const unknown = others.filter((name) => !found.some((role) => role.name === name));
  if (unknown.length > 0) throw unknownRole(unknown);
  const builtIn = names.filter(isBuiltInRole).map((name) => BUILT_IN_ROLES[name].permissions);
  const permissions = [...builtIn, ...found.map((role) => JSON.parse(role.permissions))].flat();
  return [...new Set<string>(permissions)].sort();
}

interface StoredRole {
  readonly name: string;
  readonly description: string | null;
  readonly permissions: string;
  readonly created_at: number | null;
  readonly updated_at: number | null;
}

const builtInRoles: readonly RoleRow[] = Object.entries(BUILT_IN_ROLES).map(
  ([name, { description, permissions }]) => ({
    name,
    description,
    permissions: [...permissions].sort(),
    built_in: true,
    created_at: null,
    updated_at: null,
  }),
);

const BUILT_IN: ByDialect = rowsOf(
  {
    ...{ name: "text", description: "text", permissions: "text" },
    ...{ created_at: "bigint", updated_at: "bigint" },
  },
  builtInRoles.map(stored),
);

/** Rows that were sent have the order of the database's language on PostgreSQL. */
const BY_NAME: ByDialect = { sqlite: raw("name"), postgres: raw('name COLLATE "C"') };

function* find(name: string): Operation<RoleRow | undefined> {
  const builtIn = builtInRoles.find((role) => role.name === name);
  if (builtIn) return builtIn;
  const found = yield* first(sql<StoredRole>`
    SELECT name, description, permissions, created_at, updated_at FROM roles WHERE name = ${name}`);
  return found && toRole(found);
}

function* creation(fresh: NewRoleRow, { confer }: IdentityWrite) {
  const { name } = fresh;
  if (yield* find(name)) throw new EngineError("conflict", `role ${name} exists`);
  confer(fresh.permissions);
  const at = yield* now();
  const role: RoleRow = { ...fresh, built_in: false, created_at: at, updated_at: at };
  yield* run(insertInto("roles", stored(role)));
  const fields = ["description", "permissions"] as const;
  return { value: role, changes: changesBetween(null, role, fields) ?? {} };
}

/** What is more than before: a part of what a grant gave is not. */
function notGivenBy(before: readonly string[], after: readonly string[]): readonly string[] {
  return after.filter((grant) => !before.some((held) => covers(held, grant)));
}

function stored({ name, description, permissions, created_at, updated_at }: RoleRow) {
  const text = JSON.stringify(permissions);
  return { name, description, permissions: text, created_at, updated_at };
}

function toRole({ name, permissions, ...others }: StoredRole): RoleRow {
  const built_in = isBuiltInRole(name);
  return { name, permissions: JSON.parse(permissions), built_in, ...others };
}

function unknownRole(names: readonly string[]): EngineError {
  return new EngineError("unknown_role", `no role ${names.join(", ")}`, {
    details: { roles: names },
  });
}

function roleInUse(name: string, principals: number): EngineError {
  const holders = principals === 1 ? "1 principal has" : `${principals} principals have`;
  return new EngineError(
    "role_in_use",
    `${holders} role ${name}; revoke it there, or pass force=true`,
    { details: { principals } },
  );
}
