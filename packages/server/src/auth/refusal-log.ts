import type { AuditEntry, EngineError, Identity } from "@engine/contract";
import type { Refused } from "@engine/http";
import type { EnginePorts } from "../engine-ports.ts";
import { MergedAudit, MOST_OF_ONE } from "./merged-audit.ts";

type Ports = Pick<EnginePorts, "store" | "clock" | "setTimer" | "ids" | "log">;

/** Writes refusals into the audit log (AUD-2), the first of its kind at once. */
export class RefusalLog {
  readonly #ports: Ports;
  readonly #rows: MergedAudit;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#rows = new MergedAudit(ports, { what: "refusals", isUrgent: true });
  }

  note(error: EngineError, refused: Refused): void {
    this.#rows.note(entryOf({ error, refused, now: this.#ports.clock() }));
  }

  /** Writes what is left. */
  close(): Promise<void> {
    return this.#rows.close();
  }
}

function entryOf({
  error: { code, details = {} },
  refused: { action, caller, address, request_id },
  now,
}: {
  readonly error: EngineError;
  readonly refused: Refused;
  readonly now: number;
}): AuditEntry {
  const { identity } = caller ?? {};
  const { missing_permissions: missing, reason } = details;
  const isPlain = code === "permission_denied" || code === "unauthenticated";
  return {
    id: "",
    at: now,
    actor: identity ? actorOf(identity) : null,
    credential: identity ? { kind: identity.credential.kind, id: identity.credential.id } : null,
    via_execution: identity?.via_execution ?? null,
    action,
    target: null,
    decision: "deny",
    permissions: Array.isArray(missing) ? missing.slice(0, MOST_OF_ONE).map(String) : [],
    reason: typeof reason === "string" ? reason : isPlain ? null : code,
    client_address: address ?? null,
    request_id,
    changes: null,
  };
}

function actorOf({ subject, issuer, type }: Identity): AuditEntry["actor"] {
  return { subject, issuer, type };
}
