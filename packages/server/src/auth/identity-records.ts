/** How rows of identity management are shown. */
import {
  type ApiKeyRecord,
  type CreatedApiKey,
  formatInstant,
  grantWarnings,
  type PrincipalRecord,
  type RoleRecord,
} from "@engine/contract";
import type { KeyRow, PrincipalRow, RoleRow } from "@engine/store";
import type { CreatedKey } from "./api-keys.ts";

export function toRole({ permissions, created_at, updated_at, ...others }: RoleRow): RoleRecord {
  return {
    ...others,
    permissions: [...permissions],
    created_at: instant(created_at),
    updated_at: instant(updated_at),
    warnings: [...grantWarnings(permissions)],
  };
}

export function toPrincipal(row: PrincipalRow): PrincipalRecord {
  return {
    ...row,
    roles: [...row.roles],
    created_at: formatInstant(row.created_at),
    updated_at: formatInstant(row.updated_at),
    last_seen_at: instant(row.last_seen_at),
  };
}

export function toKey({ last_used_at, ...key }: KeyRow): ApiKeyRecord {
  return { ...shownKey(key), last_used_at: instant(last_used_at) };
}

export function toCreatedKey({ key, last_used_at: _, ...others }: CreatedKey): CreatedApiKey {
  return { ...shownKey(others), key };
}

function shownKey({
  id,
  name,
  permissions,
  expires_at,
  created_at,
}: Omit<KeyRow, "last_used_at">): Omit<ApiKeyRecord, "last_used_at"> {
  return {
    id,
    name,
    prefix: `engine_sk_${id}`,
    permissions: permissions && [...permissions],
    expires_at: instant(expires_at),
    created_at: formatInstant(created_at),
  };
}

function instant(ms: number): string;
function instant(ms: number | null): string | null;
function instant(ms: number | null): string | null {
  return ms === null ? null : formatInstant(ms);
}
