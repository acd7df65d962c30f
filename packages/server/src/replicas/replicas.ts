import { REPLICA_GONE_MS, type Store } from "@engine/store";
import type { SetTimer } from "../engine-ports.ts";
import type { Log } from "../log.ts";
import type { Bus } from "./bus.ts";

/** How often a server says that it lives. */
const EVERY_MS = 2_000;

/**
 * The servers on the same database. One that was killed is noticed by its silence, counted by the
 * database's clock, which is the same for all of them.
 */
export class Replicas {
  readonly #me: string;
  readonly #store: Store;
  readonly #bus: Bus;
  readonly #setTimer: SetTimer;
  readonly #log: Log;
  readonly #onGone: ((replica: string) => void)[] = [];
  #live: ReadonlySet<string>;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: {
    readonly me: string;
    readonly store: Store;
    readonly bus: Bus;
    readonly setTimer: SetTimer;
    readonly log: Log;
  }) {
    this.#me = parts.me;
    this.#store = parts.store;
    this.#bus = parts.bus;
    this.#setTimer = parts.setTimer;
    this.#log = parts.log;
    this.#live = new Set([this.#me]);
    this.#bus.listen((message, from) => {
      if (message.kind === "goodbye") this.#see(new Set([...this.#live].filter((r) => r !== from)));
      else if (!this.#live.has(from)) this.#see(new Set([...this.#live, from]));
    });
  }

  get me(): string {
    return this.#me;
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

  /** Finds the others and makes itself known. */
  async start(): Promise<void> {
    await this.#note();
    if (!this.#bus.isShared) return;
    void this.#bus.send({ kind: "hello" });
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    try {
      if (this.#bus.isShared) await this.#bus.send({ kind: "goodbye" });
      await this.#store.removeReplica(this.#me);
    } catch (error) {
      this.#log.debug({ err: error }, "could not say goodbye to the other servers");
    }
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#setTimer(
      () => void this.#beat().finally(() => this.#schedule()),
      EVERY_MS,
    );
  }

  async #beat(): Promise<void> {
    try {
      await this.#note();
    } catch (error) {
      // While the database is away nobody can tell who lives; what is known stays.
      this.#log.debug({ err: error }, "could not say that this server lives");
    }
  }

  async #note(): Promise<void> {
    const rows = await this.#store.noteReplica(this.#me);
    const live = rows.filter(({ silent_ms }) => silent_ms < REPLICA_GONE_MS);
    this.#see(new Set([this.#me, ...live.map(({ replica }) => replica)]));
  }

  #see(live: ReadonlySet<string>): void {
    const gone = [...this.#live].filter((replica) => !live.has(replica));
    this.#live = live;
    for (const replica of gone) for (const then of this.#onGone) then(replica);
  }
}
