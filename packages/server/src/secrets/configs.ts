import { type ConfigValue, type Json, notFound } from "@engine/contract";
import type { ConfigInfo, ConfigRow, NameFilter, Page } from "@engine/store";
import { type AuditedCall, auditEntry } from "../auth/audit-entry.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { keptText, refuseOtherNames } from "./secret-rules.ts";

type Ports = Pick<EnginePorts, "store" | "clock" | "ids">;

/** Values that tasks read and nobody needs to hide (SEC-4). */
export class Configs {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  list(filter: NameFilter): Promise<Page<ConfigInfo>> {
    return this.#ports.store.configs.list(filter);
  }

  /** @throws EngineError `not_found`. */
  async get(name: string): Promise<ConfigRow> {
    const row = await this.#ports.store.configs.find(name);
    if (!row) throw notFound("config", name);
    return row;
  }

  /** Those of these names that there are, for tasks. */
  async values(names: readonly string[]): Promise<ReadonlyMap<string, Json>> {
    const rows = await this.#ports.store.configs.findAll(names);
    return new Map(rows.map(({ name, value }) => [name, value]));
  }

  /** @throws EngineError `invalid_input`, `payload_too_large`, `conflict`. */
  async put(
    name: string,
    { value, description, if_version }: ConfigValue,
    call: AuditedCall,
  ): Promise<{ readonly info: ConfigInfo; readonly isNew: boolean }> {
    refuseOtherNames(name);
    keptText(value);
    const updated_by = call.caller.identity?.subject ?? null;
    const audit = auditEntry(call, { target: name }, this.#ports);
    const config = { name, value, description, if_version, updated_by };
    const info = await this.#ports.store.configs.put(config, audit);
    return { info, isNew: info.version === 1 };
  }

  async delete(name: string, call: AuditedCall): Promise<void> {
    const audit = auditEntry(call, { target: name }, this.#ports);
    const isDeleted = await this.#ports.store.configs.delete(name, audit);
    if (!isDeleted) throw notFound("config", name);
  }
}
