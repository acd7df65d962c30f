/** What the audit log says of requests about hooks (AUD-2). */
import type { AuditEntry, Json } from "@engine/contract";
import type { HookChange } from "@engine/store";
import { type AuditedCall, auditEntry } from "../auth/audit-entry.ts";
import type { EnginePorts } from "../engine-ports.ts";

/** What of a request is noted. */
export interface Noted {
  /** The account that something runs as because of it; null: none does. */
  readonly used?: string | null;
  /** What the hook was, and what of it was sent; absent where nothing of it changes. */
  readonly before?: HookChange;
  readonly after?: HookChange;
}

/** The row of a request about the hook of that name. */
export function hookEntry(
  call: AuditedCall,
  target: string,
  { used = null, before, after }: Noted,
  ports: Pick<EnginePorts, "clock" | "ids">,
): AuditEntry {
  const permissions = used === null ? [] : [`principal:${used}:impersonate`];
  return auditEntry(call, { target, permissions, changes: changesOf(before, after) }, ports);
}

const NOTED = ["enabled", "selectors", "workflow", "principal", "max_attempts"] as const;

function changesOf(before: HookChange = {}, after?: HookChange): AuditEntry["changes"] {
  if (!after) return null;
  const values = NOTED.filter((name) => after[name] !== undefined).map((name) => {
    const [from, to] = [before[name] ?? null, after[name] ?? null];
    return [name, { before: from as Json, after: to as Json }] as const;
  });
  return Object.fromEntries(values);
}
