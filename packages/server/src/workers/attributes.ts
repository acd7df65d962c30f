import { type AuditEntry, type ChangeAttributes, notFound } from "@engine/contract";
import type { WorkerRow } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { Bus } from "../replicas/bus.ts";
import type { Sessions } from "./sessions.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "log">;
  readonly sessions: Sessions;
  readonly bus: Bus;
}

/**
 * What operators say of workers: metadata, and which local services are granted (WMD-1 to WMD-3). A
 * write is seen here before it is answered, and by other servers as soon as they hear of it; where they
 * do not, the safety tick reads it with all names.
 */
export class Attributes {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.bus.listen((message) => {
      if (message.kind === "worker") void this.#look(message.worker);
    });
  }

  async show(name: string): Promise<WorkerRow> {
    const row = await this.#parts.ports.store.workers.find(name);
    if (!row) throw notFound("worker", name);
    return row;
  }

  async change(name: string, change: ChangeAttributes, audit?: AuditEntry): Promise<WorkerRow> {
    const { ports, sessions, bus } = this.#parts;
    const row = await ports.store.workers.changeAttributes(name, change, audit);
    if (!row) throw notFound("worker", name);
    sessions.seeAttributes(row);
    void bus.send({ kind: "worker", worker: name });
    return row;
  }

  async #look(name: string): Promise<void> {
    const { ports, sessions } = this.#parts;
    if (!sessions.findByWorker(name)) return;
    try {
      const row = await ports.store.workers.find(name);
      if (row) sessions.seeAttributes(row);
    } catch (error) {
      ports.log.debug({ err: error }, "could not look at a worker; the safety tick does");
    }
  }
}
