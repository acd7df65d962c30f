import { EngineError } from "@engine/contract";

/** Why a caller is not let in; those after `invalid` are told only once the credential was proven. */
export type UnauthenticatedReason = keyof typeof MESSAGES;

const MESSAGES = {
  missing: "the request has no credential; send Authorization: Bearer <token>",
  malformed: "the Authorization header holds no token of a known shape",
  invalid: "the token is not valid here",
  expired: "the token has expired",
  disabled: "the principal of the token is disabled",
  banned: "the principal of the token is banned",
  not_provisioned: "nobody has let the user of the token in; ask an administrator",
} as const;

/** The 401 of a reason (AUTH-9). */
export function unauthenticated(reason: UnauthenticatedReason): EngineError {
  return new EngineError("unauthenticated", MESSAGES[reason], { details: { reason } });
}

/** The 403 of a credential that is proven, and of no use on the route (AUTH-10). */
export function wrongCredentialKind(): EngineError {
  return new EngineError("permission_denied", "this kind of credential is not taken here", {
    details: { missing_permissions: [], reason: "credential_kind" },
  });
}
