import type { AuditEntry } from "@engine/contract";
import { type AuditedCall, auditEntry } from "../auth/audit-entry.ts";
import type { EnginePorts } from "../engine-ports.ts";

/**
 * What the audit log says of a request about a hook; what changed of it is added by the store (AUD-2).
 *
 * @param used The account that something runs as because of it; null: none does.
 */
export function hookEntry(
  call: AuditedCall,
  { target, used = null }: { readonly target: string; readonly used?: string | null },
  ports: Pick<EnginePorts, "clock" | "ids">,
): AuditEntry {
  const permissions = used === null ? [] : [`principal:${used}:impersonate`];
  return auditEntry(call, { target, permissions }, ports);
}
