import {
  type AuditEntry,
  BUILT_IN_ROLES,
  ENGINE_ISSUER,
  isBuiltInRole,
  type PrincipalType,
} from "@engine/contract";
import {
  first,
  lock,
  now,
  type Operation,
  type Operations,
  reads,
  rows,
  run,
  together,
  writes,
} from "../operations/operation.ts";
import { anyOf, insertInto, raw, type Sql, sql } from "../operations/sql.ts";
import { audited } from "./audit.ts";
import { raise } from "./epochs.ts";

/** A principal as authentication wants it: whether it may come in, and what it holds. */
export interface StoredIdentity {
  readonly id: string;
  readonly type: PrincipalType;
  readonly subject: string;
  readonly issuer: string;
  readonly display_name: string | null;
  readonly enabled: boolean;
  readonly banned: boolean;
  /** By name, of whatever source. */
  readonly roles: readonly string[];
  /** Those of its roles that claims of its last login gave. */
  readonly claimed_roles: readonly string[];
  /** All that its roles give. */
  readonly grants: readonly string[];
}

/** An API key without its secret. */
export interface StoredKey {
  readonly id: string;
  /** SHA-256 of the whole token, as hex. */
  readonly secret_hash: string;
  /** Null: all that its principal holds. */
  readonly permissions: readonly string[] | null;
  /** Milliseconds since 1970; null = never. */
  readonly expires_at: number | null;
}

/** Which logins there are, for the question who could administer the engine (AUTH-20). */
export interface Logins {
  readonly api_keys: boolean;
  /** Of the configured provider; null without one. */
  readonly oidc_issuer: string | null;
}

/** A user whose token was verified (AUTH-16). */
export interface Login {
  readonly subject: string;
  readonly issuer: string;
  /** Null leaves the name as it is. */
  readonly display_name: string | null;
  /** Of users who come for the first time; without any they are refused. */
  readonly default_roles: readonly string[];
  /** Roles by the claims of the token; null leaves those of an earlier login. */
  readonly claimed_roles: readonly string[] | null;
  /** Becomes admin while nobody else could log in as one (AUTH-4); null: never. */
  readonly admin_unless: Logins | null;
  /** Id of the principal, where it has to be made, and the row of the audit log that says so. */
  readonly id: string;
  readonly entry: AuditEntry;
}

/** The service account with which an engine without any admin begins (AUTH-4). */
export interface FirstAdmin {
  readonly id: string;
  readonly key: Pick<StoredKey, "id" | "secret_hash">;
  readonly logins: Logins;
}

/** A key that takes the place of the first admin's. */
export interface RotatedAdminKey extends FirstAdmin {
  /** Id of the key that goes; null where nobody knows it any more. */
  readonly old_id: string | null;
  /** Its row in the audit log, which is told whose key it was. */
  readonly entry: AuditEntry;
}

/** What was used since it was noted last. */
export interface Used {
  readonly at: number;
  readonly keys: readonly string[];
  readonly principals: readonly string[];
}

/** Who callers are. Principals that were deleted are nobody. */
export interface IdentityPort {
  find(id: string): Promise<StoredIdentity | undefined>;
  findBySubject(subject: string, issuer: string): Promise<StoredIdentity | undefined>;
  /** Whether anybody has the subject, of whatever issuer. */
  hasSubject(subject: string): Promise<boolean>;
  findByKey(key_id: string): Promise<{ key: StoredKey; principal: StoredIdentity } | undefined>;
  /** Those of the names that no role has. */
  unknownRoles(names: readonly string[]): Promise<readonly string[]>;
  /**
   * Makes the user of a token where it is new, and takes over its name and claimed roles. Undefined for
   * a new one that gets no role. One that is disabled or banned stays as it is.
   */
  login(login: Login): Promise<StoredIdentity | undefined>;
  /** Whether somebody can log in as admin (AUTH-20). */
  hasAdmin(logins: Logins): Promise<boolean>;
  /**
   * Makes an admin, or gives one that has no key a new one; answers its subject. Undefined where
   * somebody can log in as admin already.
   */
  makeFirstAdmin(admin: FirstAdmin): Promise<string | undefined>;
  /**
   * Revokes a key of an admin and gives its account another one; where the key is not known, those
   * that {@link makeFirstAdmin} made of the first account that it would take. Answers the subject. An
   * account is made only where nobody could log in as admin: else undefined, and nothing is changed.
   */
  rotateAdminKey(rotated: RotatedAdminKey): Promise<string | undefined>;
  /** Notes when keys and principals were used last, each at most once a minute. */
  noteUse(used: Used): Promise<void>;
}

/** A use is noted again after that time at the earliest. */
export const USE_NOTED_MS = 60_000;

export const IDENTITIES: Operations<IdentityPort> = {
  find: reads((id) => found(sql`p.id = ${id}`)),

  findBySubject: reads((subject, issuer) => bySubject(subject, issuer)),

  hasSubject: reads(function* (subject) {
    const found = yield* first(sql`
      SELECT 1 AS one FROM principals WHERE subject = ${subject} AND deleted_at IS NULL LIMIT 1`);
    return found !== undefined;
  }),

  findByKey: reads(function* (key_id) {
    const [[key], [principal], held] = yield* together<[KeyColumns, PrincipalColumns, HeldRole]>(
      sql`SELECT id, secret_hash, permissions, expires_at FROM api_keys WHERE id = ${key_id}`,
      sql`${PRINCIPAL} WHERE p.id = ${ownerOf(key_id)} AND p.deleted_at IS NULL`,
      sql`${HELD_ROLES} WHERE h.principal_id = ${ownerOf(key_id)} ORDER BY h.role, h.source`,
    );
    if (!key || !principal) return undefined;
    const { permissions } = key;
    return {
      key: { ...key, permissions: permissions === null ? null : JSON.parse(permissions) },
      principal: toIdentity(principal, held),
    };
  }),

  unknownRoles: reads(function* (names) {
    const known = yield* existingRoles(names);
    return names.filter((name) => !known.includes(name));
  }),

  login: writes(function* (login) {
    yield* lock(ADMINS);
    const { subject, issuer, display_name, claimed_roles, admin_unless } = login;
    let user = yield* bySubject(subject, issuer);
    if (user && (!user.enabled || user.banned)) return user;
    const at = yield* now();
    const becomesAdmin = admin_unless !== null && !(yield* hasUsableAdmin(admin_unless));
    if (!user) {
      const roles = yield* existingRoles(login.default_roles);
      if (roles.length === 0 && !becomesAdmin) return undefined;
      const { id } = login;
      yield* insertPrincipal({ id, type: "user", subject, issuer, display_name }, at);
      yield* grantRoles(id, roles, "engine");
      yield* audited(login.entry);
      user = (yield* bySubject(subject, issuer)) as StoredIdentity;
    } else if (display_name !== null && display_name !== user.display_name) {
      yield* run(sql`UPDATE principals SET display_name = ${display_name}, updated_at = ${at}
        WHERE id = ${user.id}`);
    }
    if (claimed_roles !== null) yield* replaceClaimed(user, yield* existingRoles(claimed_roles));
    if (becomesAdmin) yield* grantRoles(user.id, ["admin"], "engine");
    yield* raise("identity");
    return yield* bySubject(subject, issuer);
  }),

  hasAdmin: reads(hasUsableAdmin),

  makeFirstAdmin: writes(function* (admin) {
    yield* lock(ADMINS);
    if (yield* hasUsableAdmin(admin.logins)) return undefined;
    const at = yield* now();
    const { id, subject } = yield* firstAdmin(admin.id, at);
    yield* insertKey({ ...admin.key, principal_id: id }, at);
    yield* raise("identity");
    return subject;
  }),

  rotateAdminKey: writes(function* ({ id, old_id, key, logins, entry }) {
    yield* lock(ADMINS);
    const at = yield* now();
    const old = old_id === null ? undefined : yield* keyById(old_id);
    const holder = old && (yield* found(sql`p.id = ${old.principal_id}`));
    const isHolder = holder && mayComeIn(holder) && holder.grants.includes("*");
    const known = isHolder ? holder : yield* knownAdmin();
    if (!known && (yield* hasUsableAdmin(logins))) return undefined;
    const account = known ?? (yield* firstAdmin(id, at));
    const gone = old ? [old] : yield* bootstrapKeys(account.id);
    yield* run(sql`DELETE FROM api_keys WHERE id ${anyOf(gone.map((one) => one.id))}`);
    yield* insertKey({ ...key, principal_id: account.id }, at);
    yield* raise("identity");
    const ids = { before: gone.map((one) => one.id), after: [key.id] };
    yield* audited({ ...entry, target: account.subject, changes: { keys: ids } });
    return account.subject;
  }),

  noteUse: writes(function* ({ at, keys, principals }) {
    const before = at - USE_NOTED_MS;
    yield* run(
      sql`UPDATE api_keys SET last_used_at = ${at}
        WHERE id ${anyOf(keys)} AND (last_used_at IS NULL OR last_used_at <= ${before})`,
      sql`UPDATE principals SET last_seen_at = ${at}
        WHERE id ${anyOf(principals)} AND (last_seen_at IS NULL OR last_seen_at <= ${before})`,
    );
  }),
};

/** The lock of all changes that could leave the engine without an admin, or give it a first one. */
export const ADMINS = "engine admins";

/**
 * Whether anybody could log in who holds everything and may come in (AUTH-20). Roles by claims do not
 * count, and neither do keys that end or are narrower than their principal. To be asked under
 * {@link ADMINS}.
 */
export function* hasUsableAdmin({ api_keys, oidc_issuer }: Logins): Operation<boolean> {
  const [admin] = yield* rows(sql`
    SELECT 1 AS one FROM principals AS p
    WHERE p.deleted_at IS NULL AND p.enabled = 1 AND p.banned = 0
      AND EXISTS (
        SELECT 1 FROM principal_roles AS h LEFT JOIN roles AS r ON r.name = h.role
        WHERE h.principal_id = p.id AND h.source = 'engine'
          AND (h.role = 'admin' OR r.permissions LIKE '%"*"%'))
      AND ((p.type = 'service_account' AND ${api_keys ? 1 : 0} = 1 AND EXISTS (
          SELECT 1 FROM api_keys AS k
          WHERE k.principal_id = p.id AND k.expires_at IS NULL AND k.permissions IS NULL))
        OR (p.type = 'user' AND p.issuer = ${oidc_issuer ?? ""}))
    LIMIT 1`);
  return admin !== undefined;
}

/**
 * The first of the accounts `admin`, `admin-2` and so on that is an admin and may come in; made where
 * there is none.
 */
function* firstAdmin(id: string, at: number): Operation<Pick<StoredIdentity, "id" | "subject">> {
  for (let n = 1; ; n++) {
    const subject = nthAdmin(n);
    const there = yield* bySubject(subject, ENGINE_ISSUER);
    if (there && isAdmin(there)) return there;
    if (there) continue;
    const type = "service_account";
    const made = { id, type, subject, issuer: ENGINE_ISSUER, display_name: null } as const;
    yield* insertPrincipal(made, at);
    yield* grantRoles(id, ["admin"], "engine");
    return made;
  }
}

/** The same where it is there. */
function* knownAdmin(): Operation<StoredIdentity | undefined> {
  for (let n = 1; ; n++) {
    const there = yield* bySubject(nthAdmin(n), ENGINE_ISSUER);
    if (!there || isAdmin(there)) return there;
  }
}

function nthAdmin(n: number): string {
  return n === 1 ? "admin" : `admin-${n}`;
}

function isAdmin(account: StoredIdentity): boolean {
  return mayComeIn(account) && account.roles.includes("admin");
}

function mayComeIn({ enabled, banned }: StoredIdentity): boolean {
  return enabled && !banned;
}

interface KeyOwner {
  readonly id: string;
  readonly principal_id: string;
}

function* keyById(id: string): Operation<KeyOwner | undefined> {
  return yield* first(sql<KeyOwner>`SELECT id, principal_id FROM api_keys WHERE id = ${id}`);
}

/** Those that were made with an account, or in the place of such a key: {@link insertKey}. */
function* bootstrapKeys(principal_id: string): Operation<readonly KeyOwner[]> {
  const keys = yield* rows(sql<KeyOwner & { readonly name: string }>`
    SELECT id, principal_id, name FROM api_keys WHERE principal_id = ${principal_id}`);
  return keys.filter(({ name }) => /^bootstrap(-\d+)?$/.test(name));
}

type PrincipalColumns = Pick<
  StoredIdentity,
  "id" | "type" | "subject" | "issuer" | "display_name"
> & { readonly enabled: number; readonly banned: number };

type KeyColumns = Omit<StoredKey, "permissions"> & { readonly permissions: string | null };

interface HeldRole {
  readonly role: string;
  readonly source: "engine" | "oidc";
  /** Null of the engine's own. */
  readonly permissions: string | null;
}

const PRINCIPAL: Sql<PrincipalColumns> = raw(
  "SELECT p.id, p.type, p.subject, p.issuer, p.display_name, p.enabled, p.banned FROM principals AS p",
);
const HELD_ROLES: Sql<HeldRole> = raw(
  "SELECT h.role, h.source, r.permissions FROM principal_roles AS h LEFT JOIN roles AS r ON r.name = h.role",
);

function ownerOf(key_id: string): Sql {
  return sql`(SELECT principal_id FROM api_keys WHERE id = ${key_id})`;
}

function bySubject(subject: string, issuer: string): Operation<StoredIdentity | undefined> {
  return found(sql`p.subject = ${subject} AND p.issuer = ${issuer}`);
}

function* found(condition: Sql): Operation<StoredIdentity | undefined> {
  const which = sql`${condition} AND p.deleted_at IS NULL`;
  const [[principal], held] = yield* together<[PrincipalColumns, HeldRole]>(
    sql`${PRINCIPAL} WHERE ${which}`,
    sql`${HELD_ROLES} WHERE h.principal_id IN (SELECT p.id FROM principals AS p WHERE ${which})
      ORDER BY h.role, h.source`,
  );
  return principal && toIdentity(principal, held);
}

function toIdentity(principal: PrincipalColumns, held: readonly HeldRole[]): StoredIdentity {
  // What a worker holds comes with being one (AUTH-29).
  const implied = principal.type === "worker" ? ["worker"] : [];
  const roles = new Set([...implied, ...held.map(({ role }) => role)]);
  const stored = held.flatMap(({ permissions }) => (permissions ? JSON.parse(permissions) : []));
  const builtIn = [...roles].filter(isBuiltInRole);
  const grants = builtIn.flatMap((role): readonly string[] => BUILT_IN_ROLES[role].permissions);
  return {
    ...principal,
    enabled: principal.enabled === 1,
    banned: principal.banned === 1,
    roles: [...roles],
    claimed_roles: held.filter(({ source }) => source === "oidc").map(({ role }) => role),
    grants: [...new Set([...grants, ...stored])].sort(),
  };
}

function* existingRoles(names: readonly string[]): Operation<readonly string[]> {
  const others = names.filter((name) => !isBuiltInRole(name));
  if (others.length === 0) return names;
  const stored = yield* rows(
    sql<{ name: string }>`SELECT name FROM roles WHERE name ${anyOf(others)}`,
  );
  const known = new Set(stored.map(({ name }) => name));
  return names.filter((name) => isBuiltInRole(name) || known.has(name));
}

function insertPrincipal(
  principal: Pick<StoredIdentity, "id" | "type" | "subject" | "issuer" | "display_name">,
  at: number,
): Operation<void> {
  const fresh = { enabled: 1, banned: 0, ban_reason: null, created_at: at, updated_at: at };
  return run(insertInto("principals", { ...principal, ...fresh }));
}

function* grantRoles(
  principal_id: string,
  roles: readonly string[],
  source: HeldRole["source"],
): Operation<void> {
  for (const role of new Set(roles)) {
    const row = insertInto("principal_roles", { principal_id, role, source });
    yield* run(sql`${row} ON CONFLICT (principal_id, role, source) DO NOTHING`);
  }
}

function* replaceClaimed({ id }: StoredIdentity, roles: readonly string[]): Operation<void> {
  yield* run(sql`DELETE FROM principal_roles WHERE principal_id = ${id} AND source = 'oidc'`);
  yield* grantRoles(id, roles, "oidc");
}

/** Under the first free of the names `bootstrap`, `bootstrap-2` and so on. */
function* insertKey(
  key: Pick<StoredKey, "id" | "secret_hash"> & { readonly principal_id: string },
  at: number,
): Operation<void> {
  const taken = yield* rows(
    sql<{ name: string }>`SELECT name FROM api_keys WHERE principal_id = ${key.principal_id}`,
  );
  let name = "bootstrap";
  for (let n = 2; taken.some((other) => other.name === name); n++) name = `bootstrap-${n}`;
  yield* run(insertInto("api_keys", { ...key, name, created_at: at }));
}
