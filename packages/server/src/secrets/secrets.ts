import { EngineError, type Json, notFound, type SecretValue } from "@engine/contract";
import {
  type NameFilter,
  openText,
  type Page,
  refuseOtherVersion,
  type SecretInfo,
  type SecretRow,
  sealText,
  secretPlace,
} from "@engine/store";
import { type AuditedCall, auditEntry } from "../auth/audit-entry.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { neededRing } from "./needed-ring.ts";
import { keptText, maskedCount, refuseOtherNames } from "./secret-rules.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "ring" | "clock" | "ids">;
  /** Called when it was changed what is masked; an answer waits until it is masked here. */
  readonly changed: () => Promise<unknown>;
}

/** A secret with its value. */
export interface OpenedSecret extends SecretInfo {
  readonly value: Json;
}

/** Others may write the same secret at the same time, but not so many times in a row. */
const MOST_RACES = 20;

/** Values that only tasks and those who may read them see (SEC-4). */
export class Secrets {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  list(filter: NameFilter): Promise<Page<SecretInfo>> {
    return this.#parts.ports.store.secrets.list(filter);
  }

  /**
   * With its value; the audit log tells that it was read, or it is not.
   *
   * @throws EngineError `not_found`, `encryption_unavailable`.
   */
  async get(name: string, call: AuditedCall): Promise<OpenedSecret> {
    const { ports } = this.#parts;
    const row = await ports.store.secrets.find(name);
    if (!row) throw notFound("secret", name);
    const opened = this.#opened(row);
    await ports.store.audit.add(auditEntry(call, { target: name }, ports));
    return opened;
  }

  /**
   * Those of these names that there are, for tasks, which nobody tells of.
   *
   * @throws EngineError `encryption_unavailable`.
   */
  async values(names: readonly string[]): Promise<ReadonlyMap<string, Json>> {
    const rows = await this.#parts.ports.store.secrets.findAll(names);
    return new Map(rows.map((row) => [row.name, this.#opened(row).value]));
  }

  /** Which of these names there are. */
  async known(names: readonly string[]): Promise<ReadonlySet<string>> {
    const page = { names, limit: names.length, offset: 0 };
    const { items } = await this.#parts.ports.store.secrets.list(page);
    return new Set(items.map(({ name }) => name));
  }

  /** @throws EngineError `invalid_input`, `payload_too_large`, `secret_too_short`, `conflict`, `encryption_unavailable`. */
  async put(
    name: string,
    { value, description, unmasked, if_version }: SecretValue,
    call: AuditedCall,
  ): Promise<{ readonly info: SecretInfo; readonly isNew: boolean }> {
    const { ports, changed } = this.#parts;
    refuseOtherNames(name);
    const text = keptText(value);
    const masked_values = maskedCount(value, { unmasked });
    const ring = neededRing(ports.ring);
    const updated_by = call.caller.identity?.subject ?? null;
    const audit = auditEntry(call, { target: name }, ports);
    for (let races = 0; races < MOST_RACES; races++) {
      const slot = await ports.store.secrets.slot(name);
      refuseOtherVersion(`secret ${name}`, slot.current_version, if_version);
      const secret = {
        name,
        version: slot.next_version,
        description: description === undefined ? slot.description : description,
        ...{ unmasked, masked_values, updated_by },
        ...sealText(ring, secretPlace(name, slot.next_version), text),
      };
      const info = await ports.store.secrets.put(secret, slot, audit);
      if (!info) continue;
      await changed();
      return { info, isNew: slot.current_version === null };
    }
    throw new EngineError(
      "conflict",
      `secret ${name} is written by others all the time; try again`,
    );
  }

  async delete(name: string, call: AuditedCall): Promise<void> {
    const { ports, changed } = this.#parts;
    const audit = auditEntry(call, { target: name }, ports);
    if (!(await ports.store.secrets.delete(name, audit))) throw notFound("secret", name);
    await changed();
  }

  #opened({ wrapped, body, ...info }: SecretRow): OpenedSecret {
    const { name, version, key_id } = info;
    const ring = neededRing(this.#parts.ports.ring);
    const text = openText(ring, secretPlace(name, version), { key_id, wrapped, body });
    return { ...info, value: JSON.parse(text) };
  }
}
