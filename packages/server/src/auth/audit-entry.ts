import type { AuditEntry } from "@engine/contract";
import type { Call } from "@engine/http";
import type { EnginePorts } from "../engine-ports.ts";

/** What a row of the audit log says besides who asked for it. */
export interface Audited extends Partial<Pick<AuditEntry, "permissions" | "reason" | "changes">> {
  /** The name of what was changed: a role, a subject. */
  readonly target: string | null;
}

/** The part of a request that the audit log keeps. */
export type AuditedCall = Pick<Call, "caller" | "action" | "address" | "request_id">;

/** The row of an action that a caller was allowed; with authorization off by nobody (AUD-1). */
export function auditEntry(
  { caller: { identity }, action, address, request_id }: AuditedCall,
  { target, permissions = [], reason = null, changes = null }: Audited,
  { clock, ids }: Pick<EnginePorts, "clock" | "ids">,
): AuditEntry {
  return {
    id: ids(),
    at: clock(),
    actor: identity
      ? { subject: identity.subject, issuer: identity.issuer, type: identity.type }
      : null,
    credential: identity ? { kind: identity.credential.kind, id: identity.credential.id } : null,
    via_execution: identity?.via_execution ?? null,
    action,
    target,
    decision: "allow",
    permissions: [...permissions],
    reason,
    client_address: address ?? null,
    request_id,
    changes,
  };
}
