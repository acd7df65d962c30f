import {
  interposed,
  type Leadership,
  openSqliteStore,
  type ReplicaRow,
  type Store,
  type StoreCall,
  type StoreMethod,
} from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { ManualTime, settled } from "./manual-time.ts";
import { TestEngine } from "./start-engine.ts";

/** Two servers on one store, which tell each other what they do. */
export class TwoServers implements AsyncDisposable {
  readonly a: TestEngine;
  readonly b: TestEngine;
  readonly time: ManualTime;
  readonly #store: Store;
  readonly #room: Room;
  readonly #killed = new Set<TestEngine>();

  private constructor(parts: { store: Store; room: Room; a: TestEngine; b: TestEngine }) {
    this.#store = parts.store;
    this.#room = parts.room;
    this.time = parts.a.time;
    this.a = parts.a;
    this.b = parts.b;
  }

  /** `a` leads. */
  static async start(config: unknown = {}, ports: Partial<EnginePorts> = {}): Promise<TwoServers> {
    const time = new ManualTime();
    const store = await openSqliteStore({
      path: ":memory:",
      synchronous: "normal",
      clock: time.clock,
    });
    const room = new Room(time);
    const a = await TestEngine.start(config, {
      shared: { store: room.store(store), time },
      ports,
    });
    const b = await TestEngine.start(config, {
      shared: { store: room.store(store), time },
      ports,
    });
    await settled();
    return new TwoServers({ store, room, a, b });
  }

  /** The process of a server is killed: it says nothing more, and reaches nothing. */
  kill(server: TestEngine): void {
    this.#room.silence(server.store);
    this.#killed.add(server);
  }

  /** A server stops as it should. */
  async stop(server: TestEngine): Promise<void> {
    this.#killed.add(server);
    await server.engine.close();
  }

  /** Whether what servers tell each other arrives. */
  set hears(hears: boolean) {
    this.#room.hears = hears;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of [this.a, this.b].filter((server) => !this.#killed.has(server))) {
      const closing = each.engine.close();
      await settled();
      // Workers that stay get their time to leave.
      await this.time.advance(2_000);
      await closing;
    }
    await this.#store.close();
  }
}

/** What a database that several servers share gives them beyond the store: news, and one leader. */
class Room {
  hears = true;
  readonly #time: ManualTime;
  readonly #listeners = new Map<object, (message: string | undefined) => void>();
  readonly #silent = new Set<object>();
  readonly #seen = new Map<string, number>();
  readonly #leaders = new Map<string, object>();

  constructor(time: ManualTime) {
    this.#time = time;
  }

  /** The store as one server sees it. */
  store(store: Store): Store {
    const own: Partial<Record<StoreMethod, (...args: never[]) => unknown>> = {
      "replicas.announce": async (message: string) => this.#announce(seen, message),
      "replicas.onAnnounced": async (listener: (message: string | undefined) => void) => {
        this.#listeners.set(seen, listener);
        return () => void this.#listeners.delete(seen);
      },
      "replicas.lead": async (name: string) => this.#lead(seen, name),
      "replicas.note": async (replica: string) => this.#note(seen, replica),
      "replicas.remove": async (replica: string) => {
        if (!this.#silent.has(seen)) this.#seen.delete(replica);
      },
    };
    const seen: Store = interposed(store, ({ name }, call) => {
      const asked = (own[name] as StoreCall | undefined) ?? call;
      // A killed server reaches nothing any more.
      return (
        asked && ((...args) => (this.#silent.has(seen) ? new Promise(() => {}) : asked(...args)))
      );
    });
    return seen;
  }

  silence(store: object): void {
    this.#silent.add(store);
    this.#listeners.delete(store);
    for (const [name, leader] of this.#leaders) if (leader === store) this.#leaders.delete(name);
  }

  async #announce(from: object, message: string): Promise<void> {
    if (!this.hears || this.#silent.has(from)) return;
    for (const [to, listener] of this.#listeners) if (to !== from) listener(message);
  }

  #lead(store: object, name: string): Leadership | undefined {
    if (this.#leaders.has(name)) return undefined;
    this.#leaders.set(name, store);
    const lost = new AbortController();
    const release = async () => void this.#leaders.delete(name);
    return { lost: lost.signal, release };
  }

  #note(store: object, replica: string): ReplicaRow[] {
    if (!this.#silent.has(store)) this.#seen.set(replica, this.#time.now);
    return [...this.#seen].map(([replica, at]) => ({
      replica,
      seen_at: at,
      silent_ms: this.#time.now - at,
    }));
  }
}
