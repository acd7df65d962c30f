import { type Epochs, REPLICA_GONE_MS, type ReplicaRow } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { every } from "../every.ts";
import type { Bus } from "./bus.ts";

/** How often a server says that it lives. */
const EVERY_MS = 2_000;

/** Another server, as this one knows it. */
interface Peer {
  /** Its stamp; undefined until the store was seen to have one. */
  seen_at: number | undefined;
  /** When it gave a sign of life last, by the clock that nobody sets. */
  heardAt: number;
  isLive: boolean;
}

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "replica" | "setTimer" | "monotonic" | "log">;
  readonly bus: Bus;
}

/**
 * The servers on the same database. A server that was killed is noticed because its stamp there stops
 * changing. For how long it has stood is counted by this server's own clock that nobody sets: the
 * database's clock may be set, and so only says whether a stamp is another one.
 */
export class Replicas {
  /** The id of this server. */
  readonly me: string;
  readonly #bus: Bus;
  readonly #ports: Parts["ports"];
  readonly #peers = new Map<string, Peer>();
  /** When the store was asked last. */
  #notedAt = Number.NEGATIVE_INFINITY;
  readonly #onNoted: ((epochs: Epochs, askedAt: number) => void)[] = [];
  readonly #onGone: ((replica: string) => void)[] = [];
  #live: ReadonlySet<string>;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor({ ports, bus }: Parts) {
    this.#ports = ports;
    this.#bus = bus;
    this.me = ports.replica;
    this.#live = new Set([this.me]);
    bus.listen((message, from) => {
      if (message.kind === "goodbye") this.#peers.delete(from);
      else this.#hears(from);
      this.#see();
    });
  }

  /** Whether there can be other servers at all. */
  get isShared(): boolean {
    return this.#bus.isShared;
  }

  /** Whether anybody else would hear what this server says. */
  get hasPeers(): boolean {
    return this.#live.size > 1;
  }

  isLive(replica: string): boolean {
    return this.#live.has(replica);
  }

  onGone(then: (replica: string) => void): void {
    this.#onGone.push(then);
  }

  /** Hears the epochs that were read with the sign of life, and when that was asked for. */
  onNoted(then: (epochs: Epochs, askedAt: number) => void): void {
    this.#onNoted.push(then);
  }

  /** Finds the others and makes itself known. */
  async start(): Promise<void> {
    await this.#note();
    if (!this.#bus.isShared) return;
    void this.#bus.send({ kind: "hello" });
    if (!this.#isClosed)
      this.#cancel = every(this.#ports.setTimer, { ms: EVERY_MS }, () => this.#beat());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    try {
      if (this.#bus.isShared) await this.#bus.send({ kind: "goodbye" });
      await this.#ports.store.replicas.remove(this.me);
    } catch (error) {
      this.#ports.log.debug({ err: error }, "could not say goodbye to the other servers");
    }
  }

  async #beat(): Promise<void> {
    try {
      await this.#note();
    } catch (error) {
      // While the database is away nobody can tell which servers live: what is known stays.
      this.#ports.log.debug({ err: error }, "could not say that this server lives");
    }
  }

  async #note(): Promise<void> {
    const askedAt = this.#ports.monotonic();
    const rows = await this.#ports.store.replicas.note(this.me);
    const now = this.#ports.monotonic();
    for (const { epochs } of rows) {
      if (epochs) for (const then of this.#onNoted) then(epochs, askedAt);
    }
    // This server stood still, or the database was away and the others could not write either.
    const isGap = now - this.#notedAt > 2 * EVERY_MS;
    this.#notedAt = now;
    for (const { replica, seen_at, silent_ms } of rows) {
      if (replica === this.me) continue;
      const peer = this.#peers.get(replica);
      if (!peer) this.#meet(replica, { seen_at, silent_ms });
      else if (peer.seen_at !== seen_at) this.#hears(replica).seen_at = seen_at;
    }
    for (const [replica, peer] of this.#peers) {
      if (peer.isLive && isGap) peer.heardAt = now;
      peer.isLive &&= now - peer.heardAt < REPLICA_GONE_MS;
      // The row of a dead server goes after an hour; until then the server is known to be gone.
      if (!peer.isLive && !rows.some((row) => row.replica === replica)) this.#peers.delete(replica);
    }
    this.#see();
  }

  /** Of a server seen for the first time the database's clock says whether it lives. */
  #meet(replica: string, { seen_at, silent_ms }: Omit<ReplicaRow, "replica">): void {
    const heardAt = this.#ports.monotonic() - silent_ms;
    this.#peers.set(replica, { seen_at, heardAt, isLive: silent_ms < REPLICA_GONE_MS });
  }

  /** Notes a sign of life of another server. */
  #hears(replica: string): Peer {
    const heard = { heardAt: this.#ports.monotonic(), isLive: true };
    const peer = Object.assign(this.#peers.get(replica) ?? { seen_at: undefined }, heard);
    this.#peers.set(replica, peer);
    return peer;
  }

  #see(): void {
    const gone = [...this.#live].filter((r) => r !== this.me && !this.#peers.get(r)?.isLive);
    const others = [...this.#peers].filter(([, { isLive }]) => isLive);
    this.#live = new Set([this.me, ...others.map(([replica]) => replica)]);
    for (const replica of gone) for (const then of this.#onGone) then(replica);
  }
}
