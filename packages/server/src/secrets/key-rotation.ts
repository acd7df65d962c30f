import { type EncryptionStatus, EngineError } from "@engine/contract";
import {
  type KeyHolder,
  type KeyRing,
  placeOf,
  type Rewrapped,
  resealAlike,
  rewrapKey,
  ringOf,
  type StoredDataKey,
  type WrappedKey,
} from "@engine/store";
import { type AuditedCall, auditEntry } from "../auth/audit-entry.ts";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Bus } from "../replicas/bus.ts";
import type { LedWork } from "../replicas/leadership.ts";
import { neededRing } from "./needed-ring.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "ring" | "clock" | "ids" | "setTimer" | "log">;
  readonly bus: Pick<Bus, "listen" | "send">;
  readonly replicas: { readonly hasPeers: boolean };
}

const HOLDERS: readonly KeyHolder[] = [
  "secrets",
  "masks",
  "schedules",
  "execution_keys",
  "routing",
];
const BATCH = 200;
/** Time for requests between two batches. */
const BREATH_MS = 20;
/** Whoever seals with another key all the while is not waited for. */
const MOST_PASSES = 5;

/**
 * Wraps every data key with the primary key (SEC-3). What is asked for is a row of the store: the server
 * that leads does it, and whoever leads after a crash goes on. Values are not touched, and what others
 * write meanwhile stays as they write it. Routing inputs of executions have no data key, or equal ones
 * would not look alike: they are sealed anew.
 */
export class KeyRotation implements Domain {
  readonly #parts: Parts;
  #isLeading = false;
  #isClosed = false;
  /** Something may be left to do. */
  #isOpen = false;
  #running: Promise<void> | undefined;
  #endBreath: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.bus.listen(({ kind }) => {
      if (kind === "rotation" && this.#isLeading) this.#wake();
    });
  }

  readonly led: LedWork = {
    start: async () => {
      this.#isLeading = true;
      this.#wake();
    },
    stop: () => {
      this.#isLeading = false;
    },
  };

  /** Another server may have been asked, and not have been heard. */
  refresh(): void {
    if (this.#isLeading && (this.#isOpen || this.#parts.replicas.hasPeers)) this.#wake();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endBreath?.();
    await this.#running;
  }

  /** @throws EngineError `encryption_unavailable`. */
  async status(): Promise<EncryptionStatus> {
    const { ports } = this.#parts;
    const ring = neededRing(ports.ring);
    const [uses, to] = await Promise.all([
      ports.store.encryption.uses(),
      ports.store.encryption.rotation(),
    ]);
    const rows = new Map(uses.map((use) => [use.key_id, use.rows]));
    const ids = [...new Set([...ring.ids, ...rows.keys()])].sort();
    const keys = ids.map((id) => ({ id, rows: rows.get(id) ?? 0 }));
    return { primary: ring.primary.id, keys, rotating: to !== undefined };
  }

  /** Begins, or begins again. @throws EngineError `encryption_unavailable`. */
  async rotate(call: AuditedCall): Promise<EncryptionStatus> {
    const { ports, bus } = this.#parts;
    const { id } = neededRing(ports.ring).primary;
    await ports.store.encryption.beginRotation(id, auditEntry(call, { target: id }, ports));
    const status = await this.status();
    if (this.#isLeading) this.#wake();
    else void bus.send({ kind: "rotation" });
    return status;
  }

  #wake(): void {
    this.#isOpen = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    const { log } = this.#parts.ports;
    try {
      // Set again by whoever asks while this goes on.
      while (this.#isOpen && this.#goesOn) {
        this.#isOpen = false;
        await this.#look();
      }
    } catch (error) {
      this.#isOpen = true;
      log.warn({ err: error }, "the rotation of keys was broken off; it goes on in a while");
    }
  }

  get #goesOn(): boolean {
    return this.#isLeading && !this.#isClosed;
  }

  async #look(): Promise<void> {
    const { store, ring, log } = this.#parts.ports;
    const to = await store.encryption.rotation();
    if (to === undefined) return;
    const primary = ring?.of(to);
    if (!ring || !primary) {
      log.warn(
        { key: to },
        "data keys are to be wrapped with a key that this server does not have",
      );
      return;
    }
    const others = ring.ids.flatMap((id) => ring.of(id) ?? []);
    let rewrapped = 0;
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      const done = await this.#pass(ringOf(primary, others));
      rewrapped += done;
      if (done === 0 || !this.#goesOn) break;
    }
    if (!this.#goesOn) return;
    await store.encryption.endRotation(to);
    log.info({ key: to, rewrapped }, "data keys are wrapped with the primary key");
  }

  /** Everything once; answers how many were wrapped anew. */
  async #pass(ring: KeyRing): Promise<number> {
    const { encryption } = this.#parts.ports.store;
    let rewrapped = 0;
    for (const of of HOLDERS) {
      let after: StoredDataKey | undefined;
      do {
        const page = { after, limit: BATCH };
        const found = await encryption.stale(of, ring.primary.id, page);
        const anew = found.flatMap((key) => this.#anew(key, ring));
        if (anew.length > 0) rewrapped += await encryption.rewrap(of, anew);
        after = found.length < BATCH ? undefined : found.at(-1);
        if (after) await this.#breathe();
      } while (after && this.#goesOn);
      if (!this.#goesOn) break;
    }
    return rewrapped;
  }

  /** One that does not open stays as it is: it is counted under its key. */
  #anew(key: StoredDataKey, ring: KeyRing): readonly Rewrapped[] {
    try {
      return [{ ...key, ...anew(key, ring), before: key.wrapped }];
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#parts.ports.log.error({ err: error, of: key.of }, "a data key does not open");
      return [];
    }
  }

  #breathe(): Promise<void> {
    return new Promise((resolve) => {
      this.#endBreath = resolve;
      this.#parts.ports.setTimer(resolve, BREATH_MS);
    });
  }
}

function anew(key: StoredDataKey, ring: KeyRing): WrappedKey {
  if (key.of !== "routing") return rewrapKey(ring, placeOf(key), key);
  return { key_id: ring.primary.id, wrapped: resealAlike(ring, key.wrapped) };
}
