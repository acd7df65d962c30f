import { first, type Operation } from "../operations/operation.ts";
import { raw, sql } from "../operations/sql.ts";

/** Which logins there are, for the question who could administer the engine (AUTH-20). */
export interface Logins {
  readonly api_keys: boolean;
  /** Of the configured provider; null without one. */
  readonly oidc_issuer: string | null;
}

/** The lock of all changes that could leave the engine without an admin, or give it a first one. */
export const ADMINS = "engine admins";

/**
 * Whether anybody could log in who holds everything and may come in (AUTH-20). Roles by claims do not
 * count, and neither do keys that end or are narrower than their principal. To be asked under
 * {@link ADMINS}.
 */
export function* hasUsableAdmin({ api_keys, oidc_issuer }: Logins): Operation<boolean> {
  const hasKey = raw(`EXISTS (
    SELECT 1 FROM api_keys AS k
    WHERE k.principal_id = p.id AND k.expires_at IS NULL AND k.permissions IS NULL)`);
  const admin = yield* first(sql`
    SELECT 1 AS one FROM principals AS p
    WHERE p.deleted_at IS NULL AND p.enabled = 1 AND p.banned = 0
      AND EXISTS (
        SELECT 1 FROM principal_roles AS h LEFT JOIN roles AS r ON r.name = h.role
        WHERE h.principal_id = p.id AND h.source = 'engine'
          AND (h.role = 'admin' OR r.permissions LIKE '%"*"%'))
      AND ((p.type = 'service_account' AND ${raw(api_keys ? "true" : "false")} AND ${hasKey})
        OR (p.type = 'user' AND p.issuer = ${oidc_issuer ?? ""}))
    LIMIT 1`);
  return admin !== undefined;
}
