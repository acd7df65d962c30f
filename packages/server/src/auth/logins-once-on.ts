import type { Config } from "@engine/contract";
import type { Logins } from "@engine/store";

/**
 * Which logins there are, or will be once authorization is on: who can administer the engine depends
 * on it (AUTH-20).
 */
export function loginsOnceOn({ security }: Pick<Config, "security">): Logins {
  const { api_keys, oidc } = security.auth;
  return {
    api_keys: api_keys.enabled !== false,
    oidc_issuer: oidc.enabled ? (oidc.issuer ?? null) : null,
  };
}
