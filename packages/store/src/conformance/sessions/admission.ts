/** Registrations of tests with authorization on. */
import type { AuditEntry } from "@engine/contract";
import type { AdmittedSession } from "../../ports/sessions.ts";
import type { Store } from "../../store.ts";
import type { Admission, Shown } from "../../worker-admission.ts";
import { newSession } from "../sample.ts";

/** Ends far from now, by whatever clock the store has. */
export const LATER: number = Date.UTC(2100, 0, 1);
export const LONG_AGO: number = Date.UTC(2000, 0, 1);

let made = 0;

/** A text that no other call gave. */
export function fresh(what: string): string {
  return `${what}-${++made}`;
}

export function auditEntry(action: string): AuditEntry {
  return {
    id: fresh("audit"),
    at: 1,
    actor: null,
    credential: null,
    via_execution: null,
    action,
    target: null,
    decision: "allow",
    permissions: [],
    reason: null,
    client_address: null,
    request_id: null,
    changes: null,
  };
}

export function admission(shown: Shown, fields: Partial<Admission> = {}): Admission {
  const id = fresh("credential");
  return {
    shown,
    principal_id: fresh("principal"),
    credential: { id, secret_hash: `hash of ${id}`, expires_at: LATER },
    audit: { admitted: auditEntry("workers.register"), revoked: auditEntry("worker.revoked") },
    ...fields,
  };
}

/** A process registers a name; its own id says whether it is the same one again. */
export function register(
  store: Store,
  worker: string,
  shown: Admission,
  process: string = fresh("process"),
): Promise<AdmittedSession> {
  const { credential_line: _, ...session } = newSession(fresh("session"), {
    worker,
    instance_id: process,
    token_hash: fresh("secret"),
  });
  return store.sessions.admit(session, shown);
}

/** A token for joining, which ends far from now. */
export async function joinToken(
  store: Store,
  subject: string | null = null,
  expires_at: number = LATER,
  services: readonly string[] = [],
): Promise<Shown & { readonly kind: "join_token" }> {
  const id = fresh("token");
  const of = { subject, services, created_by: null, expires_at };
  await store.joinTokens.create({ id, secret_hash: `hash of ${id}`, ...of });
  return { kind: "join_token", id };
}

export async function actions(store: Store): Promise<readonly string[]> {
  const { items } = await store.audit.list({ limit: 100, offset: 0 });
  return items.map(({ action }) => action).sort();
}
