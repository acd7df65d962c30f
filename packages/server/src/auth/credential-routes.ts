import type { CredentialKind, Route } from "@engine/contract";
import { wrongCredentialKind } from "./unauthenticated.ts";

const REGISTERING: ReadonlySet<CredentialKind> = new Set([
  "worker_credential",
  "join_token",
  "bootstrap_token",
]);
const OF_WORKERS: ReadonlySet<CredentialKind> = new Set(["worker_credential"]);
/** An execution token reaches little of it: whoever proves it looks at that (AUTH-44). */
const OF_CALLERS: ReadonlySet<CredentialKind> = new Set([
  "api_key",
  "oidc",
  "execution_token",
  "internal",
]);

/**
 * Refuses a credential of a kind that the route does not take (AUTH-11).
 *
 * @throws EngineError `permission_denied` with reason `credential_kind`.
 */
export function refuseKind(kind: CredentialKind, { path, permission }: Route): void {
  if (!acceptedBy(path, permission.kind).has(kind)) throw wrongCredentialKind();
}

function acceptedBy(
  path: string,
  needed: Route["permission"]["kind"],
): ReadonlySet<CredentialKind> {
  if (path === "/workers/register") return REGISTERING;
  return needed === "worker" ? OF_WORKERS : OF_CALLERS;
}
