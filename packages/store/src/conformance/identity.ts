/** What goes with made-up changes of who may do what. */
import { randomUUID } from "node:crypto";
import type { AuditEntry, AuditRecord } from "@engine/contract";
import type { IdentityWrite } from "../ports/identity-write.ts";
import type { NewKeyRow } from "../ports/keys.ts";
import type { NewPrincipalRow, PrincipalRow } from "../ports/principals.ts";
import type { Store } from "../store.ts";
import { NOW } from "./sample.ts";

/** The issuer of the provider that is configured. */
export const PROVIDER = "https://login.example.com";

/** Each change is later than the ones before. */
let changes = 0;

/** A change by somebody who holds everything, with both kinds of login. */
export function identityWrite(
  action: string,
  fields: Partial<AuditEntry> = {},
  others: Partial<Omit<IdentityWrite, "entry">> = {},
): IdentityWrite {
  const entry: AuditEntry = {
    id: randomUUID(),
    at: NOW + ++changes,
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
    ...fields,
  };
  const logins = { api_keys: true, oidc_issuer: PROVIDER };
  return { entry, logins, confer: () => undefined, ...others };
}

/** What the audit log says, oldest first. */
export async function auditOf(
  store: Store,
): Promise<readonly Pick<AuditRecord, "action" | "target" | "changes">[]> {
  const { items } = await store.audit.list({ limit: 100, offset: 0 });
  return items.map(({ action, target, changes }) => ({ action, target, changes })).reverse();
}

/** A service account, of its subject's name for an id. */
export function madePrincipal(
  store: Store,
  subject: string,
  fields: Partial<NewPrincipalRow> = {},
): Promise<PrincipalRow> {
  return store.principals.create(
    {
      ...{ id: subject, type: "service_account", subject, issuer: "engine" },
      ...{ display_name: null, roles: [] },
      ...fields,
    },
    identityWrite("principals.create", { target: subject }),
  );
}

/** A key of a principal; without an end, unless said otherwise. */
export function newKey(
  principal_id: string,
  name: string,
  fields: Partial<NewKeyRow> = {},
): NewKeyRow {
  const id = `${principal_id}.${name}`;
  return {
    ...{ id, name, principal_id, secret_hash: `hash of ${id}` },
    ...{ permissions: null, expires_at: null },
    ...fields,
  };
}

/** A service account that can log in and holds everything. */
export async function madeAdmin(store: Store, subject: string): Promise<PrincipalRow> {
  const admin = await madePrincipal(store, subject, { roles: ["admin"] });
  await store.keys.create(newKey(admin.id, "k"), identityWrite("principals.createKey"));
  return admin;
}
