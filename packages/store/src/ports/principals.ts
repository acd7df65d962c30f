import { EngineError, type PrincipalType } from "@engine/contract";
import {
  first,
  now,
  type Operation,
  type Operations,
  page,
  reads,
  rows,
  run,
  together,
  writes,
} from "../operations/operation.ts";
import {
  anyOf,
  assigned,
  type ByDialect,
  insertInto,
  matching,
  raw,
  type Sql,
  sql,
} from "../operations/sql.ts";
import { changesBetween, type IdentityWrite, identityWrite } from "./identity-write.ts";
import type { Page } from "./port.ts";
import { permissionsOfRoles } from "./roles.ts";
import { endWorkerCredentials } from "./worker-credentials.ts";

/** A user, service account or worker that was not deleted. Instants are milliseconds since 1970. */
export interface PrincipalRow {
  readonly id: string;
  readonly type: PrincipalType;
  readonly subject: string;
  readonly issuer: string;
  readonly display_name: string | null;
  readonly enabled: boolean;
  readonly banned: boolean;
  readonly ban_reason: string | null;
  /** Sorted, of whatever source. */
  readonly roles: readonly string[];
  readonly created_at: number;
  readonly updated_at: number;
  readonly last_seen_at: number | null;
}

export interface PrincipalFilter {
  readonly type?: PrincipalType | undefined;
  readonly enabled?: boolean | undefined;
  readonly banned?: boolean | undefined;
  readonly role?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export type NewPrincipalRow = Pick<
  PrincipalRow,
  "id" | "type" | "subject" | "issuer" | "display_name" | "roles"
>;
export type PrincipalPatch = Partial<
  Pick<PrincipalRow, "display_name" | "enabled" | "banned" | "ban_reason">
>;

/** What to write of a principal as it is in the transaction. Must be pure: it may run again. */
export type DecidePrincipal = (row: PrincipalRow) => PrincipalPatch;

/** What keeps a principal from being deleted (AUTH-23). */
export interface PrincipalUses {
  /** That have not expired. */
  readonly keys: number;
  /** That run as it and have not ended. */
  readonly executions: number;
  /** Whose account it is. */
  readonly schedules: number;
  /** The same, enabled or not. */
  readonly hooks: number;
}

/** Who may be let in, and with which roles. Those that were deleted are found by none of these. */
export interface PrincipalPort {
  /** By subject, then by issuer. */
  list(filter: PrincipalFilter): Promise<Page<PrincipalRow>>;
  /** Of every issuer that has it. */
  findBySubject(subject: string): Promise<readonly PrincipalRow[]>;
  /** Rejects `conflict` when the issuer has the subject, `unknown_role`. The roles are conferred. */
  create(principal: NewPrincipalRow, write: IdentityWrite): Promise<PrincipalRow>;
  /**
   * Undefined when there is none. Who is enabled or unbanned has all its roles conferred anew; who is
   * disabled or banned loses credentials with it.
   */
  change(
    id: string,
    decide: DecidePrincipal,
    write: IdentityWrite,
  ): Promise<PrincipalRow | undefined>;
  /** Undefined when there is none. Rejects `unknown_role`. */
  grantRole(id: string, role: string, write: IdentityWrite): Promise<PrincipalRow | undefined>;
  /** Undefined when there is none. A role by claims of a login stays. */
  revokeRole(id: string, role: string, write: IdentityWrite): Promise<PrincipalRow | undefined>;
  /** False when there is none. Rejects `principal_in_use` for one that is, unless it is forced. */
  delete(id: string, how: { readonly force: boolean }, write: IdentityWrite): Promise<boolean>;
}

/** What ends in the transaction that changes a principal. */
type AlsoEnds = readonly ((id: string) => Operation<void>)[];

/** Credentials that end when their principal is disabled; keys only rest meanwhile. */
const ALSO_ON_DISABLE: AlsoEnds = [endWorkerCredentials];

/** Credentials that end when their principal is banned. */
const ALSO_ON_BAN: AlsoEnds = [
  (id) => run(sql`DELETE FROM api_keys WHERE principal_id = ${id}`),
  ...ALSO_ON_DISABLE,
];

/** What goes with a principal that is deleted. */
const ALSO_ON_DELETE: AlsoEnds = [
  (id) => run(sql`DELETE FROM principal_roles WHERE principal_id = ${id}`),
  ...ALSO_ON_BAN,
];

/** Once the principal itself is written, which locks its row. */
function* end(ends: AlsoEnds, { id }: Pick<PrincipalRow, "id">): Operation<void> {
  for (const one of ends) yield* one(id);
}

export const PRINCIPALS: Operations<PrincipalPort> = {
  list: reads(function* ({ type, enabled, banned, role, limit, offset }) {
    const conditions = matching({ type, enabled: flag(enabled), banned: flag(banned) });
    const hasRole =
      role === undefined
        ? raw("true")
        : sql`EXISTS (SELECT 1 FROM principal_roles WHERE principal_id = id AND role = ${role})`;
    const { items, total } = yield* page(
      {
        columns: COLUMNS,
        from: sql`FROM principals WHERE deleted_at IS NULL AND ${conditions} AND ${hasRole}`,
        order: raw("subject, issuer"),
        ...{ limit, offset },
      },
      (found) => found,
    );
    return { items: yield* withRoles(items), total };
  }),

  findBySubject: reads(function* (subject) {
    return yield* withRoles(
      yield* rows(sql<StoredPrincipal>`
        SELECT ${COLUMNS} FROM principals
        WHERE subject = ${subject} AND deleted_at IS NULL ORDER BY issuer`),
    );
  }),

  create: writes((fresh, write) => identityWrite(write, creation(fresh, write))),

  change: writes((id, decide, write) => {
    function* change() {
      const before = yield* find(id);
      if (!before) return { value: undefined, changes: null };
      const patch = decide(before);
      const patched = { ...before, ...patch };
      const changes = changesBetween(before, patched, PATCHABLE);
      if (changes === null) return { value: before, changes };
      const isLetIn = patched.enabled && !before.enabled;
      if (isLetIn || (before.banned && !patched.banned)) write.confer(yield* permissionsOf(before));
      const after = { ...patched, updated_at: yield* now() };
      const { id: _, ...columns } = stored(after);
      yield* run(sql`UPDATE principals SET ${assigned(columns)} WHERE id = ${id}`);
      if (patched.banned && !before.banned) yield* end(ALSO_ON_BAN, before);
      else if (before.enabled && !patched.enabled) yield* end(ALSO_ON_DISABLE, before);
      return { value: after, changes };
    }
    return identityWrite(write, change());
  }),

  grantRole: writes((id, role, write) => {
    function* change() {
      const before = yield* find(id);
      if (!before) return { value: undefined, changes: null };
      const permissions = yield* permissionsOfRoles([role]);
      const held = yield* first(grantOf(id, role));
      if (held) return { value: before, changes: null };
      write.confer(permissions);
      yield* run(insertInto("principal_roles", { principal_id: id, role, source: "engine" }));
      return yield* withOtherRoles(before);
    }
    return identityWrite(write, change());
  }),

  revokeRole: writes((id, role, write) => {
    function* change() {
      const before = yield* find(id);
      if (!before || !(yield* first(grantOf(id, role)))) return { value: before, changes: null };
      yield* run(sql`DELETE FROM principal_roles
        WHERE principal_id = ${id} AND role = ${role} AND source = 'engine'`);
      return yield* withOtherRoles(before);
    }
    return identityWrite(write, change());
  }),

  delete: writes((id, { force }, write) => {
    function* change() {
      const principal = yield* find(id);
      if (!principal) return { value: false, changes: null };
      const uses = yield* usesOf(principal);
      if (!force && Object.values(uses).some((some) => some > 0)) throw inUse(principal, uses);
      const at = yield* now();
      yield* run(
        sql`UPDATE principals SET ${assigned({ deleted_at: at, updated_at: at })} WHERE id = ${id}`,
      );
      yield* end(ALSO_ON_DELETE, principal);
      const changes = changesBetween(principal, null, ["id", "type", "issuer", "roles"]);
      return { value: true, changes };
    }
    return identityWrite(write, change());
  }),
};

type Flag = 0 | 1;
type StoredPrincipal = Omit<PrincipalRow, "roles" | "enabled" | "banned"> & {
  readonly enabled: Flag;
  readonly banned: Flag;
};

const COLUMNS = sql<StoredPrincipal>`
  id, type, subject, issuer, display_name, enabled, banned, ban_reason, created_at, updated_at,
  last_seen_at`;

const PATCHABLE = ["display_name", "enabled", "banned", "ban_reason"] as const;

function flag(value: boolean): Flag;
function flag(value: boolean | undefined): Flag | undefined;
function flag(value: boolean | undefined): Flag | undefined {
  return value === undefined ? undefined : value ? 1 : 0;
}

function* find(id: string): Operation<PrincipalRow | undefined> {
  const found = yield* rows(sql<StoredPrincipal>`
    SELECT ${COLUMNS} FROM principals WHERE id = ${id} AND deleted_at IS NULL`);
  return (yield* withRoles(found))[0];
}

function* withRoles(found: readonly StoredPrincipal[]): Operation<readonly PrincipalRow[]> {
  const held = yield* rows(sql<{ principal_id: string; role: string }>`
    SELECT DISTINCT principal_id, role FROM principal_roles
    WHERE principal_id ${anyOf(found.map(({ id }) => id))} ORDER BY role`);
  const rolesOf = Map.groupBy(held, ({ principal_id }) => principal_id);
  return found.map(({ enabled, banned, ...others }) => ({
    ...others,
    enabled: enabled === 1,
    banned: banned === 1,
    roles: (rolesOf.get(others.id) ?? []).map(({ role }) => role),
  }));
}

function* creation(fresh: NewPrincipalRow, { confer }: IdentityWrite) {
  const { subject, issuer } = fresh;
  const taken = yield* first(sql`
    SELECT 1 AS one FROM principals
    WHERE subject = ${subject} AND issuer = ${issuer} AND deleted_at IS NULL`);
  if (taken) {
    throw new EngineError("conflict", `principal ${subject} of issuer ${issuer} exists`);
  }
  const roles = [...new Set(fresh.roles)].sort();
  confer(yield* permissionsOfRoles(roles));
  const at = yield* now();
  const state = { enabled: true, banned: false, ban_reason: null, last_seen_at: null };
  const row: PrincipalRow = { ...fresh, ...state, roles, created_at: at, updated_at: at };
  yield* run(
    insertInto("principals", stored(row)),
    ...roles.map((role) =>
      insertInto("principal_roles", { principal_id: row.id, role, source: "engine" }),
    ),
  );
  const fields = ["id", "type", "issuer", "display_name", "roles"] as const;
  return { value: row, changes: changesBetween(null, row, fields) };
}

function stored({ roles, enabled, banned, ...others }: PrincipalRow): StoredPrincipal & StoredRow {
  return { ...others, enabled: flag(enabled), banned: flag(banned) };
}

type StoredRow = Readonly<Record<string, string | number | null>>;

/** All that a principal holds once it is let in. */
export function permissionsOf({
  type,
  roles,
}: Pick<PrincipalRow, "type" | "roles">): Operation<readonly string[]> {
  // What a worker holds comes with being one (AUTH-29).
  return permissionsOfRoles(type === "worker" ? ["worker", ...roles] : roles);
}

function grantOf(id: string, role: string): Sql {
  return sql`SELECT 1 AS one FROM principal_roles
    WHERE principal_id = ${id} AND role = ${role} AND source = 'engine'`;
}

/** A principal after a role came or went: its row has not changed, its time has. */
function* withOtherRoles(before: PrincipalRow) {
  const at = yield* now();
  yield* run(sql`UPDATE principals SET updated_at = ${at} WHERE id = ${before.id}`);
  const after = yield* find(before.id);
  // A role that a login gives, too, changes nothing that a reader sees.
  const changes = changesBetween(before, after ?? null, ["roles"]) ?? {};
  return { value: after, changes };
}

const ACCOUNT_OF_SCHEDULE: ByDialect = {
  sqlite: raw("record ->> 'run_as'"),
  postgres: raw("record::json ->> 'run_as'"),
};

function* usesOf({ id, type, subject }: PrincipalRow): Operation<PrincipalUses> {
  const at = yield* now();
  // Only a service account can be the account of a schedule or a hook.
  const account = type === "service_account" ? subject : null;
  const [[keys], [executions], [schedules], [hooks]] = yield* together<
    [Counted, Counted, Counted, Counted]
  >(
    sql`SELECT count(*) AS total FROM api_keys
      WHERE principal_id = ${id} AND (expires_at IS NULL OR expires_at > ${at})`,
    sql`SELECT count(*) AS total FROM executions WHERE run_as = ${id} AND finished_at IS NULL`,
    sql`SELECT count(*) AS total FROM schedules WHERE ${ACCOUNT_OF_SCHEDULE} = ${account}`,
    sql`SELECT count(*) AS total FROM hooks WHERE principal = ${account}`,
  );
  return {
    keys: keys?.total ?? 0,
    executions: executions?.total ?? 0,
    schedules: schedules?.total ?? 0,
    hooks: hooks?.total ?? 0,
  };
}

interface Counted {
  readonly total: number;
}

function inUse({ subject }: PrincipalRow, uses: PrincipalUses): EngineError {
  const { keys, executions, schedules, hooks } = uses;
  const held = [
    keys > 0 && `live keys (${keys})`,
    executions > 0 && `executions that have not ended (${executions})`,
    schedules > 0 && `schedules (${schedules})`,
    hooks > 0 && `hooks (${hooks})`,
  ].filter((text) => text !== false);
  return new EngineError(
    "principal_in_use",
    `principal ${subject} has ${held.join(", ")}; end those, or pass force=true`,
    { details: { ...uses } },
  );
}
