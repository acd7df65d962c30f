import { ENGINE_ISSUER, EngineError, invalidField, notFound } from "@engine/contract";
import type { PrincipalPatch, PrincipalRow } from "@engine/store";

/** How a path names a principal: by its subject, and by the issuer where several have that. */
export interface PrincipalName {
  readonly subject: string;
  readonly issuer?: string | undefined;
}

/**
 * The one that is meant of those with a subject (AUTH-19).
 *
 * @throws EngineError `not_found`, `ambiguous_subject`.
 */
export function selected(
  { subject, issuer }: PrincipalName,
  principals: readonly PrincipalRow[],
): PrincipalRow {
  const meant = issuer ?? (principals.length > 1 ? ENGINE_ISSUER : principals[0]?.issuer);
  const found = principals.find((one) => one.issuer === meant);
  if (found) return found;
  if (issuer !== undefined || principals.length === 0) throw notFound("principal", subject);
  const issuers = principals.map((one) => one.issuer);
  throw new EngineError(
    "ambiguous_subject",
    `several principals have subject ${subject}: pass issuer, one of ${issuers.join(", ")}`,
    { details: { issuers } },
  );
}

/** @throws EngineError `conflict` for one that is banned (AUTH-22). */
export function enabledPrincipal({ subject, banned }: PrincipalRow): PrincipalPatch {
  if (!banned) return { enabled: true };
  throw new EngineError("conflict", `principal ${subject} is banned; unban it first`);
}

export const disabledPrincipal: PrincipalPatch = { enabled: false };

/** One that is banned already keeps its reason. */
export function bannedPrincipal({ banned }: PrincipalRow, reason: string | null): PrincipalPatch {
  return banned ? {} : { banned: true, enabled: false, ban_reason: reason };
}

/** Disabled, it stays until somebody enables it. */
export const unbannedPrincipal: PrincipalPatch = { banned: false, ban_reason: null };

/** @throws EngineError `invalid_input` for workers, who hold what every worker does (AUTH-24). */
export function refuseRolesOf({ type, subject }: Pick<PrincipalRow, "type" | "subject">): void {
  if (type !== "worker") return;
  throw invalidField("body.role", `${subject} is a worker, which can have no roles`);
}

/** @throws EngineError `invalid_input` for whoever has no API keys (AUTH-13). */
export function refuseKeysOf({ type, subject }: Pick<PrincipalRow, "type" | "subject">): void {
  if (type === "service_account") return;
  throw invalidField("subject", `${subject} is a ${type}; API keys belong to service accounts`);
}
