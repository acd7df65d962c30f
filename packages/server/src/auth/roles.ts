import { type NewRole, notFound, type RoleChanges } from "@engine/contract";
import type { Page, RoleRow } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { AuditedCall } from "./audit-entry.ts";
import { identityWriteOf } from "./identity-writes.ts";
import { changedRole, refuseBuiltIn, sortedPermissions } from "./role-rules.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "config" | "clock" | "ids">;
  /** Called when it was changed who may do what, before that is answered. */
  readonly changed: () => void;
}

/** What callers do with roles (AUTH-24). */
export class Roles {
  readonly #ports: Parts["ports"];
  readonly #changed: Parts["changed"];

  constructor({ ports, changed }: Parts) {
    this.#ports = ports;
    this.#changed = changed;
  }

  list(page: { readonly limit: number; readonly offset: number }): Promise<Page<RoleRow>> {
    return this.#ports.store.roles.list(page);
  }

  async get(name: string): Promise<RoleRow> {
    return found(name, await this.#ports.store.roles.find(name));
  }

  /** @throws EngineError `conflict`, `privilege_escalation`. */
  async create(role: NewRole, call: AuditedCall): Promise<RoleRow> {
    const write = identityWriteOf(call, { target: role.name }, this.#ports);
    const permissions = sortedPermissions(role.permissions);
    const created = await this.#ports.store.roles.create({ ...role, permissions }, write);
    this.#changed();
    return created;
  }

  /** @throws EngineError `not_found`, `conflict`, `privilege_escalation`. */
  async clone(name: string, new_name: string, call: AuditedCall): Promise<RoleRow> {
    const write = identityWriteOf(call, { target: new_name }, this.#ports);
    const cloned = found(name, await this.#ports.store.roles.clone(name, new_name, write));
    this.#changed();
    return cloned;
  }

  /** @throws EngineError `not_found`, `built_in_role`, `privilege_escalation`, `last_admin`. */
  async change(name: string, changes: RoleChanges, call: AuditedCall): Promise<RoleRow> {
    refuseBuiltIn(name, "changed");
    const write = identityWriteOf(call, { target: name }, this.#ports);
    const decide = (row: RoleRow) => changedRole(row, changes);
    const changed = found(name, await this.#ports.store.roles.change(name, decide, write));
    this.#changed();
    return changed;
  }

  /** @throws EngineError `not_found`, `built_in_role`, `role_in_use`, `last_admin`. */
  async delete(name: string, how: { readonly force: boolean }, call: AuditedCall): Promise<void> {
    refuseBuiltIn(name, "deleted");
    const write = identityWriteOf(call, { target: name }, this.#ports);
    if (!(await this.#ports.store.roles.delete(name, how, write))) throw notFound("role", name);
    this.#changed();
  }
}

function found(name: string, role: RoleRow | undefined): RoleRow {
  if (!role) throw notFound("role", name);
  return role;
}
