import { type NewService, notFound, type ServiceChanges } from "@engine/contract";
import type { NameFilter, Page, ServiceRow, StoredVersion } from "@engine/store";
import { type AuditedCall, auditEntry } from "../auth/audit-entry.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { changedChoice } from "./service-changes.ts";
import { endpointOf, type ServiceView } from "./service-view.ts";
import type { ServiceViews } from "./service-views.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "ids">;
  readonly views: ServiceViews;
  /** Called when a service was written, before that is answered. */
  readonly changed: () => void;
}

/** Named choices of workflows, and what they offer. */
export class Services {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  list(filter: NameFilter): Promise<Page<ServiceRow>> {
    return this.#parts.ports.store.services.list(filter);
  }

  /** With what it offers now; undefined for one that there is not. */
  find(name: string): Promise<ServiceView | undefined> {
    return this.#parts.views.find(name);
  }

  /** The same. @throws EngineError `not_found`. */
  async view(name: string): Promise<ServiceView> {
    const view = await this.find(name);
    if (!view) throw notFound("service", name);
    return view;
  }

  /** The workflow behind an endpoint, in its latest version. @throws EngineError `not_found`, `name_collision`. */
  async resolve(service: string, name: string): Promise<StoredVersion> {
    return endpointOf(await this.view(service), name);
  }

  /** @throws EngineError `service_exists`. */
  async create(
    { description = null, ...fields }: NewService,
    call: AuditedCall,
  ): Promise<ServiceRow> {
    const { ports, changed } = this.#parts;
    const audit = auditEntry(call, { target: fields.name }, ports);
    const row = await ports.store.services.create(
      { id: ports.ids(), description, ...fields },
      audit,
    );
    changed();
    return row;
  }

  /** @throws EngineError `not_found`, `invalid_input`. */
  async change(name: string, changes: ServiceChanges, call: AuditedCall): Promise<ServiceRow> {
    const { ports, changed } = this.#parts;
    const audit = auditEntry(call, { target: name }, ports);
    const decide = (before: Parameters<typeof changedChoice>[0]) => changedChoice(before, changes);
    const row = await ports.store.services.change(name, decide, audit);
    if (!row) throw notFound("service", name);
    changed();
    return row;
  }

  /** Executions of it go on; its endpoints are gone (SVC-24). @throws EngineError `not_found`. */
  async delete(name: string, call: AuditedCall): Promise<void> {
    const { ports, changed } = this.#parts;
    const audit = auditEntry(call, { target: name }, ports);
    const isDeleted = await ports.store.services.delete(name, audit);
    if (!isDeleted) throw notFound("service", name);
    changed();
  }
}
