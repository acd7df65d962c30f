import type { EpochName, Epochs } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { Bus } from "../replicas/bus.ts";
import type { Replicas } from "../replicas/replicas.ts";

/** Nothing is decided on epochs that were read longer ago (AUTH-57). */
const FRESH_MS = 1_000;
/** Under load the row is read again from this age on, so that not everybody waits for it once a second. */
const AHEAD_MS = 500;

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "monotonic" | "log">;
  readonly bus: Bus;
  readonly replicas: Pick<Replicas, "onNoted">;
}

interface Reading {
  readonly startedAt: number;
  readonly done: Promise<boolean>;
}

/**
 * Knows whether anything was changed of what others keep copies of: who may do what, masks, services, the
 * catalog. It reads the row when it is asked, not by itself: an idle engine makes no statement for it.
 */
export class EpochWatch {
  readonly #ports: Parts["ports"];
  readonly #bus: Bus;
  readonly #listeners = new Map<EpochName, Set<() => void>>();
  #known: Epochs | undefined;
  /** When the read began that brought what is known. */
  #knownSince = Number.NEGATIVE_INFINITY;
  /** The same, unless there is a reason to look again. */
  #freshSince = Number.NEGATIVE_INFINITY;
  #doubts = 0;
  #reading: Reading | undefined;

  constructor({ ports, bus, replicas }: Parts) {
    this.#ports = ports;
    this.#bus = bus;
    bus.listen((message) => {
      if (message.kind === "epochs") for (const name of message.raised) this.#tell(name);
    });
    bus.onMissed(() => this.#doubt());
    replicas.onNoted((epochs, startedAt) => this.#take(epochs, startedAt, this.#doubts));
    ports.store.replicas.onWrittenBeside?.(() => this.#doubt());
  }

  /** Whether what is known of the row is young enough to decide by. Asking soon enough keeps it so. */
  get isCurrent(): boolean {
    const age = this.#ports.monotonic() - this.#freshSince;
    if (age >= FRESH_MS) return false;
    if (age >= AHEAD_MS && !this.#reading) void this.#read();
    return true;
  }

  /**
   * Resolves once it is, all that listen having been told of changes. False where the row cannot be read:
   * then nothing may be kept, and nothing that was kept may be used.
   */
  current(): Promise<boolean> {
    if (this.isCurrent) return Promise.resolve(true);
    const reading = this.#reading;
    const isYoung = reading && this.#ports.monotonic() - reading.startedAt < FRESH_MS;
    return isYoung ? reading.done : this.#read();
  }

  /** Calls back on every change of an epoch, on whichever server it was made. */
  onChange(name: EpochName, then: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(then));
    return () => void listeners.delete(then);
  }

  /**
   * To be called once a change of this server is committed, before it is answered: what was kept here is
   * forgotten by then, and the other servers are told.
   */
  raised(...names: readonly EpochName[]): void {
    for (const name of names) this.#tell(name);
    void this.#bus.send({ kind: "epochs", raised: names });
  }

  /** Something may have changed that was not heard of. */
  #doubt(): void {
    this.#doubts++;
    this.#freshSince = Number.NEGATIVE_INFINITY;
    // Whoever serves something for long waits to be told. Where nobody ever asked, nobody does.
    if (this.#known) queueMicrotask(() => void this.#read());
  }

  #read(): Promise<boolean> {
    const startedAt = this.#ports.monotonic();
    const reading = { startedAt, done: this.#ask(startedAt, this.#doubts) };
    this.#reading = reading;
    void reading.done.then(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    return reading.done;
  }

  async #ask(startedAt: number, doubts: number): Promise<boolean> {
    try {
      this.#take(await this.#ports.store.epochs.read(), startedAt, doubts);
      return true;
    } catch (error) {
      this.#freshSince = Number.NEGATIVE_INFINITY;
      this.#ports.log.debug({ err: error }, "the epochs could not be read; nothing is kept");
      return false;
    }
  }

  #take(epochs: Epochs, startedAt: number, doubts: number): void {
    if (startedAt < this.#knownSince) return;
    const before = this.#known;
    this.#known = epochs;
    this.#knownSince = startedAt;
    if (doubts === this.#doubts) this.#freshSince = startedAt;
    for (const name of Object.keys(epochs) as EpochName[]) {
      if (before && before[name] !== epochs[name]) this.#tell(name);
    }
  }

  #tell(name: EpochName): void {
    for (const then of [...(this.#listeners.get(name) ?? [])]) then();
  }
}
