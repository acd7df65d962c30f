import type { AuditEntry } from "@engine/contract";
import type { EnginePorts } from "../engine-ports.ts";
import { secretHash } from "./secret-token.ts";

const MINUTE_MS = 60_000;
/** Repeats are written so long after the first of them. */
const TOGETHER_MS = 5_000;
/** Rows of one minute for one caller, and for all: what comes on top of it shares rows. */
export const MOST_OF_ONE = 50;
const MOST_OF_ALL = 1_000;

type Ports = Pick<EnginePorts, "store" | "clock" | "setTimer" | "ids" | "log">;

interface Options {
  /** What is written, in the plural, for the log of the server. */
  readonly what: string;
  /** Whether the first of its kind is written at once, and only its repeats together. */
  readonly isUrgent: boolean;
}

interface Row {
  readonly entry: AuditEntry;
  readonly merge_key: string;
  /** Those that are not written yet. */
  pending: number;
}

/**
 * Writes into the audit log what happens often and changes nothing. Equal entries of a minute are one
 * row that counts them, and a caller who does ever new things gets rows that say less: a flood of
 * requests is no flood of writes (AUD-3). Nobody waits for them.
 */
export class MergedAudit {
  readonly #ports: Ports;
  readonly #options: Options;
  #minute = Number.NEGATIVE_INFINITY;
  /** By what makes them equal. */
  readonly #rows = new Map<string, Row>();
  readonly #perCaller = new Map<string, number>();
  readonly #due = new Set<Row>();
  #cancel: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  /** One is the first of its kind, and not to wait for others. */
  #hasUrgent = false;

  constructor(ports: Ports, options: Options) {
    this.#ports = ports;
    this.#options = options;
  }

  /** @param exact All that there is to say; its id is made here. */
  note(exact: AuditEntry): void {
    const minute = Math.floor(exact.at / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#rows.clear();
      this.#perCaller.clear();
    }
    const before = this.#rows.size;
    const row = this.#rowOf(exact);
    row.pending++;
    this.#due.add(row);
    if (this.#options.isUrgent && this.#rows.size > before) {
      this.#hasUrgent = true;
      void this.#write();
    } else this.#cancel ??= this.#ports.setTimer(() => void this.#write(), TOGETHER_MS);
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#write();
    this.#cancel?.();
  }

  /** A row as exact as there is room for. */
  #rowOf(exact: AuditEntry): Row {
    const caller = callerKey(exact);
    const coarse: AuditEntry = { ...exact, target: null, permissions: [] };
    const nobody = { actor: null, credential: null, client_address: null, via_execution: null };
    return (
      this.#known(exact) ??
      (this.#hasRoom(caller, MOST_OF_ONE) ? this.#open(exact, caller) : undefined) ??
      this.#known(coarse) ??
      (this.#hasRoom(caller, 2 * MOST_OF_ONE) ? this.#open(coarse, caller) : undefined) ??
      this.#known({ ...coarse, ...nobody }) ??
      this.#open({ ...coarse, ...nobody }, "")
    );
  }

  #hasRoom(caller: string, most: number): boolean {
    return this.#rows.size < MOST_OF_ALL && (this.#perCaller.get(caller) ?? 0) < most;
  }

  #known(entry: AuditEntry): Row | undefined {
    return this.#rows.get(kindOf(entry));
  }

  #open(entry: AuditEntry, caller: string): Row {
    const kind = kindOf(entry);
    const merge_key = secretHash(`${this.#minute} ${kind}`);
    const row = { entry: { ...entry, id: this.#ports.ids() }, merge_key, pending: 0 };
    this.#rows.set(kind, row);
    this.#perCaller.set(caller, (this.#perCaller.get(caller) ?? 0) + 1);
    return row;
  }

  /** One write at a time. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    do {
      this.#hasUrgent = false;
      await this.#writeDue();
    } while (this.#hasUrgent);
  }

  async #writeDue(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const { store, log } = this.#ports;
    // Repeats that come while this is written wait for their time.
    for (const row of [...this.#due]) {
      const count = row.pending;
      row.pending = 0;
      this.#due.delete(row);
      try {
        await store.audit.add(row.entry, row.merge_key, count);
      } catch (error) {
        const { action } = row.entry;
        log.warn({ err: error, action, count }, `${this.#options.what} were not written down`);
      }
    }
  }
}

/** Entries of a minute with the same text are one row. */
function kindOf(entry: AuditEntry): string {
  const { decision, action, target, permissions } = entry;
  return JSON.stringify([decision, callerKey(entry), action, target, permissions]);
}

/** Who it was: a principal, else whoever is at an address. */
function callerKey({ actor, client_address }: AuditEntry): string {
  return actor ? JSON.stringify([actor.issuer, actor.subject]) : `${client_address}`;
}
