import {
  ENGINE_ISSUER,
  invalidField,
  type NewPrincipal,
  notFound,
  type PrincipalChanges,
} from "@engine/contract";
import type {
  DecidePrincipal,
  IdentityWrite,
  Page,
  PrincipalFilter,
  PrincipalRow,
} from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { AuditedCall } from "./audit-entry.ts";
import { identityWriteOf } from "./identity-writes.ts";
import {
  bannedPrincipal,
  disabledPrincipal,
  enabledPrincipal,
  type PrincipalName,
  refuseRolesOf,
  selected,
  unbannedPrincipal,
} from "./principal-rules.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "config" | "clock" | "ids">;
  /** Called when it was changed who may do what, before that is answered. */
  readonly changed: () => void;
}

/**
 * What callers do with users, service accounts and workers (AUTH-18 to AUTH-23). Whatever leaves the
 * engine without an admin is `last_admin`, and changes nothing (AUTH-20).
 */
export class Principals {
  readonly #ports: Parts["ports"];
  readonly #changed: Parts["changed"];

  constructor({ ports, changed }: Parts) {
    this.#ports = ports;
    this.#changed = changed;
  }

  list(filter: PrincipalFilter): Promise<Page<PrincipalRow>> {
    return this.#ports.store.principals.list(filter);
  }

  /** @throws EngineError `not_found`, `ambiguous_subject`. */
  async get(name: PrincipalName): Promise<PrincipalRow> {
    return selected(name, await this.#ports.store.principals.findBySubject(name.subject));
  }

  /** @throws EngineError `conflict`, `unknown_role`, `privilege_escalation`, `invalid_input`. */
  async create(fields: NewPrincipal, call: AuditedCall): Promise<PrincipalRow> {
    const issuer = this.#issuerOf(fields);
    const principal = { ...fields, issuer, id: this.#ports.ids() };
    const write = this.#write(call, fields.subject);
    const created = await this.#ports.store.principals.create(principal, write);
    this.#changed();
    return created;
  }

  /** @throws EngineError `conflict` when it would enable a banned one, `privilege_escalation`. */
  change(
    name: PrincipalName,
    { display_name, enabled }: PrincipalChanges,
    call: AuditedCall,
  ): Promise<PrincipalRow> {
    return this.#change(name, call, (row) => ({
      ...(display_name !== undefined && { display_name }),
      ...(enabled === true && enabledPrincipal(row)),
      ...(enabled === false && disabledPrincipal),
    }));
  }

  /** @throws EngineError `conflict` for a banned one, `privilege_escalation`. */
  enable(name: PrincipalName, call: AuditedCall): Promise<PrincipalRow> {
    return this.#change(name, call, enabledPrincipal);
  }

  disable(name: PrincipalName, call: AuditedCall): Promise<PrincipalRow> {
    return this.#change(name, call, () => disabledPrincipal);
  }

  /** Revokes its keys, too. */
  ban(name: PrincipalName, reason: string | null, call: AuditedCall): Promise<PrincipalRow> {
    return this.#change(name, call, (row) => bannedPrincipal(row, reason), reason);
  }

  /** Leaves it disabled. @throws EngineError `privilege_escalation`. */
  unban(name: PrincipalName, call: AuditedCall): Promise<PrincipalRow> {
    return this.#change(name, call, () => unbannedPrincipal);
  }

  /** @throws EngineError `unknown_role`, `privilege_escalation`, `invalid_input` for a worker. */
  async grantRole(name: PrincipalName, role: string, call: AuditedCall): Promise<PrincipalRow> {
    const principal = await this.get(name);
    refuseRolesOf(principal);
    const write = this.#write(call, name.subject);
    return this.#after(
      name,
      await this.#ports.store.principals.grantRole(principal.id, role, write),
    );
  }

  async revokeRole(name: PrincipalName, role: string, call: AuditedCall): Promise<void> {
    const { id } = await this.get(name);
    const write = this.#write(call, name.subject);
    this.#after(name, await this.#ports.store.principals.revokeRole(id, role, write));
  }

  /** @throws EngineError `principal_in_use`. */
  async delete(
    name: PrincipalName,
    how: { readonly force: boolean },
    call: AuditedCall,
  ): Promise<void> {
    const { id } = await this.get(name);
    const write = this.#write(call, name.subject);
    const isDeleted = await this.#ports.store.principals.delete(id, how, write);
    if (!isDeleted) throw notFound("principal", name.subject);
    this.#changed();
  }

  #issuerOf({ type, issuer }: NewPrincipal): string {
    const { oidc } = this.#ports.config.security.auth;
    const chosen = issuer ?? (type === "user" ? oidc.issuer : ENGINE_ISSUER);
    if (chosen !== undefined) return chosen;
    throw invalidField(
      "body.issuer",
      "the issuer of a user is needed, since no provider is configured under [engine.security.auth.oidc]",
    );
  }

  async #change(
    name: PrincipalName,
    call: AuditedCall,
    decide: DecidePrincipal,
    reason: string | null = null,
  ): Promise<PrincipalRow> {
    const { id } = await this.get(name);
    const write = this.#write(call, name.subject, reason);
    return this.#after(name, await this.#ports.store.principals.change(id, decide, write));
  }

  #write(call: AuditedCall, target: string, reason: string | null = null): IdentityWrite {
    return identityWriteOf(call, { target, reason }, this.#ports);
  }

  /** Undefined: it was deleted since it was looked up. */
  #after({ subject }: PrincipalName, row: PrincipalRow | undefined): PrincipalRow {
    if (!row) throw notFound("principal", subject);
    this.#changed();
    return row;
  }
}
