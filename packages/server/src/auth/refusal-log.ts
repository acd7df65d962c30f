import type { AuditEntry, EngineError, Identity } from "@engine/contract";
import type { Refused } from "@engine/http";
import type { EnginePorts } from "../engine-ports.ts";
import { secretHash } from "./secret-token.ts";

const MINUTE_MS = 60_000;
/** Repeats of a refusal are written so long after the first of them. */
const TOGETHER_MS = 5_000;
/** Rows of one minute for one caller, and for all: what comes on top of it shares rows. */
const MOST_OF_ONE = 50;
const MOST_OF_ALL = 1_000;

type Ports = Pick<EnginePorts, "store" | "clock" | "setTimer" | "ids" | "log">;

interface Row {
  readonly entry: AuditEntry;
  readonly merge_key: string;
  /** Refusals that are not written yet. */
  pending: number;
}

/**
 * Writes refusals into the audit log (AUD-2). Equal ones of a minute are one row that counts them, and a
 * caller who is refused in ever new ways gets rows that say less: a flood of refusals is no flood of
 * writes (AUD-3).
 */
export class RefusalLog {
  readonly #ports: Ports;
  #minute = Number.NEGATIVE_INFINITY;
  readonly #rows = new Map<string, Row>();
  readonly #perCaller = new Map<string, number>();
  readonly #due = new Set<Row>();
  #cancel: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  /** A refusal is the first of its kind, and not to wait for others. */
  #hasNew = false;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Notes a refusal; the first of its kind is written at once, though nobody waits for it. */
  note(error: EngineError, refused: Refused): void {
    const now = this.#ports.clock();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#rows.clear();
      this.#perCaller.clear();
    }
    const before = this.#rows.size;
    const row = this.#rowOf({ error, refused, now });
    row.pending++;
    this.#due.add(row);
    if (this.#rows.size > before) {
      this.#hasNew = true;
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
  #rowOf(asked: { error: EngineError; refused: Refused; now: number }): Row {
    const exact = entryOf(asked);
    const caller = callerKey(exact);
    const coarse: AuditEntry = { ...exact, permissions: [] };
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
    return this.#rows.get(this.#mergeKey(entry));
  }

  #open(entry: AuditEntry, caller: string): Row {
    const merge_key = this.#mergeKey(entry);
    const row = { entry: { ...entry, id: this.#ports.ids() }, merge_key, pending: 0 };
    this.#rows.set(merge_key, row);
    this.#perCaller.set(caller, (this.#perCaller.get(caller) ?? 0) + 1);
    return row;
  }

  #mergeKey(entry: AuditEntry): string {
    const { action, permissions } = entry;
    return secretHash(JSON.stringify([this.#minute, callerKey(entry), action, permissions]));
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
      this.#hasNew = false;
      await this.#writeDue();
    } while (this.#hasNew);
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
        log.warn({ err: error, action: row.entry.action, count }, "refusals were not written down");
      }
    }
  }
}

/** Who was refused: a principal, else whoever is at an address. */
function callerKey({ actor, client_address }: AuditEntry): string {
  return actor ? JSON.stringify([actor.issuer, actor.subject]) : `${client_address}`;
}

function entryOf({
  error: { code, details = {} },
  refused: { action, caller, address, request_id },
  now,
}: {
  readonly error: EngineError;
  readonly refused: Refused;
  readonly now: number;
}): AuditEntry {
  const { identity } = caller ?? {};
  const { missing_permissions: missing, reason } = details;
  const isPlain = code === "permission_denied" || code === "unauthenticated";
  return {
    id: "",
    at: now,
    actor: identity ? actorOf(identity) : null,
    credential: identity ? { kind: identity.credential.kind, id: identity.credential.id } : null,
    via_execution: identity?.via_execution ?? null,
    action,
    target: null,
    decision: "deny",
    permissions: Array.isArray(missing) ? missing.slice(0, MOST_OF_ONE).map(String) : [],
    reason: typeof reason === "string" ? reason : isPlain ? null : code,
    client_address: address ?? null,
    request_id,
    changes: null,
  };
}

function actorOf({ subject, issuer, type }: Identity): AuditEntry["actor"] {
  return { subject, issuer, type };
}
