import { EngineError, formatInstant } from "@engine/contract";
import {
  first,
  now,
  type Operations,
  page,
  reads,
  rows,
  run,
  writes,
} from "../operations/operation.ts";
import { insertInto, raw, sql } from "../operations/sql.ts";
import { changesBetween, type IdentityWrite, identityWrite } from "./identity-write.ts";
import type { Page } from "./port.ts";
import { permissionsOf } from "./principals.ts";

/** An API key without its secret. Instants are milliseconds since 1970. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  /** What it is narrowed to; null: all that its principal holds. */
  readonly permissions: readonly string[] | null;
  readonly created_at: number;
  /** Null = never. */
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
}

export interface NewKeyRow extends Pick<KeyRow, "id" | "name" | "permissions" | "expires_at"> {
  readonly principal_id: string;
  /** SHA-256 of the whole token, as hex. */
  readonly secret_hash: string;
}

/** API keys of service accounts. */
export interface KeyPort {
  /** By name; also expired ones. */
  list(
    principal_id: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Page<KeyRow>>;
  /**
   * Undefined when the principal is gone. Rejects `conflict` when it has a key of this name, or as many
   * live ones as it may have. What the key gives is conferred.
   */
  create(key: NewKeyRow, write: IdentityWrite): Promise<KeyRow | undefined>;
  /** False when there is none. */
  delete(principal_id: string, name: string, write: IdentityWrite): Promise<boolean>;
}

const MOST_LIVE = 20;

export const KEYS: Operations<KeyPort> = {
  list: reads((principal_id, asked) => {
    const from = sql`FROM api_keys WHERE principal_id = ${principal_id}`;
    return page({ columns: COLUMNS, from, order: raw("name"), ...asked }, toKey);
  }),

  create: writes((fresh, write) => {
    const { principal_id, name } = fresh;
    function* change() {
      const held = yield* rows(sql<Holder>`
        SELECT p.type, h.role FROM principals AS p
        LEFT JOIN principal_roles AS h ON h.principal_id = p.id
        WHERE p.id = ${principal_id} AND p.deleted_at IS NULL`);
      const [holder] = held;
      if (!holder) return { value: undefined, changes: null };
      const at = yield* now();
      const keys = yield* rows(sql<StoredKey>`
        SELECT ${COLUMNS} FROM api_keys WHERE principal_id = ${principal_id}`);
      if (keys.some((key) => key.name === name)) {
        throw new EngineError("conflict", `the principal has a key ${name}; revoke it first`);
      }
      const live = keys.filter(({ expires_at }) => expires_at === null || expires_at > at);
      if (live.length >= MOST_LIVE) {
        throw new EngineError("conflict", `the principal has ${MOST_LIVE} live keys; revoke one`);
      }
      const roles = [...new Set(held.flatMap(({ role }) => role ?? []))];
      write.confer(yield* permissionsOf({ type: holder.type, roles }), fresh.permissions);
      const { permissions } = fresh;
      const text = permissions && JSON.stringify(permissions);
      yield* run(insertInto("api_keys", { ...fresh, permissions: text, created_at: at }));
      const { id, expires_at } = fresh;
      const key = { id, name, permissions, created_at: at, expires_at, last_used_at: null };
      return { value: key, changes: changesBetween(null, auditedKey(key), AUDITED) };
    }
    return identityWrite(write, change());
  }),

  delete: writes((principal_id, name, write) => {
    function* change() {
      const found = yield* first(sql<StoredKey>`
        SELECT ${COLUMNS} FROM api_keys WHERE principal_id = ${principal_id} AND name = ${name}`);
      if (!found) return { value: false, changes: null };
      yield* run(sql`DELETE FROM api_keys WHERE id = ${found.id}`);
      return { value: true, changes: changesBetween(auditedKey(toKey(found)), null, AUDITED) };
    }
    return identityWrite(write, change());
  }),
};

type Holder = { readonly type: "service_account"; readonly role: string | null };
type StoredKey = Omit<KeyRow, "permissions"> & { readonly permissions: string | null };

const COLUMNS = sql<StoredKey>`id, name, permissions, created_at, expires_at, last_used_at`;
const AUDITED = ["key", "id", "permissions", "expires_at"] as const;

/** A key as the audit log shows it: instants are texts there, as in every answer. */
function auditedKey({ name, id, permissions, expires_at }: KeyRow) {
  return { key: name, id, permissions, expires_at: expires_at && formatInstant(expires_at) };
}

function toKey({ permissions, ...others }: StoredKey): KeyRow {
  return { ...others, permissions: permissions === null ? null : JSON.parse(permissions) };
}
