import type { IdentityWrite } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { type AuditedCall, auditEntry } from "./audit-entry.ts";
import { refuseEscalation } from "./escalation.ts";
import { loginsOnceOn } from "./logins-once-on.ts";

/** What goes with a change that a caller makes of who may do what. */
export function identityWriteOf(
  call: AuditedCall,
  { target, reason = null }: { readonly target: string; readonly reason?: string | null },
  ports: Pick<EnginePorts, "config" | "clock" | "ids">,
): IdentityWrite {
  const { identity } = call.caller;
  return {
    entry: auditEntry(call, { target, reason }, ports),
    logins: loginsOnceOn(ports.config),
    confer: (permissions, narrowed_to) => refuseEscalation(identity, permissions, narrowed_to),
  };
}
