import type { Read } from "@engine/http";
import type { EnginePorts } from "../engine-ports.ts";
import { auditEntry } from "./audit-entry.ts";
import { MergedAudit } from "./merged-audit.ts";

type Ports = Pick<EnginePorts, "store" | "clock" | "setTimer" | "ids" | "log">;

/** Writes reads that were allowed into the audit log, where that is asked for (AUD-2). */
export class ReadLog {
  readonly #ports: Ports;
  readonly #rows: MergedAudit;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#rows = new MergedAudit(ports, { what: "reads", isUrgent: false });
  }

  note({ target, ...read }: Read): void {
    // Most of them are counted by a row that there is already.
    this.#rows.note(auditEntry(read, { target }, { clock: this.#ports.clock, ids: () => "" }));
  }

  /** Writes what is left. */
  close(): Promise<void> {
    return this.#rows.close();
  }
}
