import type { Event } from "@engine/contract";
import type { Changed, WorkerRow } from "@engine/store";
import type { Domain } from "../domain.ts";
import type { InnerPorts } from "../engine-ports.ts";
import type { RowNews } from "../replicas/bus-message.ts";
import type { Replicas } from "../replicas/replicas.ts";
import { control, type Decision } from "./control.ts";
import type { Told } from "./holdings.ts";
import type { Session, SessionNews } from "./session.ts";

/** What the store says that operators want of a worker, and have said of it. */
type Directed = Pick<WorkerRow, "name" | "desired_state" | "session" | "attributes">;

type Ports = Pick<InnerPorts, "store" | "seals" | "monotonic" | "config">;

type ChangeListener = (session: Session, news: SessionNews) => void;

/** What a worker measured of itself counts for so many intervals (RTE-1). */
const BEATS_OF_METRICS = 3;

type PushListener = (session: Session, of: Told, events: readonly Event[]) => void;

/** The sessions that live, and the executions of those that this server holds. */
export class Sessions implements Domain {
  readonly #byId = new Map<string, Session>();
  /**
   * The one that was added last comes last. There may be several: of two registrations at two servers
   * the answer to the first may come after the second one's.
   */
  readonly #byWorker = new Map<string, Set<Session>>();
  /** By the SHA-256 of the session's secret. */
  readonly #byToken = new Map<string, Session>();
  readonly #tokens = new Map<Session, string>();
  readonly #ports: Ports;
  readonly #pushListeners: PushListener[] = [];
  readonly #roomListeners: (() => void)[] = [];
  readonly #changeListeners: ChangeListener[] = [];
  /** For each read of the store that is under way: the workers of which more was heard meanwhile. */
  readonly #looks = new Set<Set<string>>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  add(session: Session, token_hash: string): void {
    this.remove(session);
    const earlier = this.#byId.get(session.id);
    if (earlier) this.remove(earlier);
    else this.#outdate(session.worker);
    this.#byId.set(session.id, session);
    const ofWorker = this.#byWorker.get(session.worker) ?? new Set();
    this.#byWorker.set(session.worker, ofWorker.add(session));
    this.#byToken.set(token_hash, session);
    this.#tokens.set(session, token_hash);
    const { heartbeat_interval } = this.#ports.config.workers;
    session.metricsLastMs = heartbeat_interval * 1000 * BEATS_OF_METRICS;
    session.onChange = this.#changed;
    this.#changed(session, "changed");
  }

  remove(session: Session): void {
    const token_hash = this.#tokens.get(session);
    if (token_hash === undefined) return;
    this.#tokens.delete(session);
    this.#byToken.delete(token_hash);
    this.#byId.delete(session.id);
    const ofWorker = this.#byWorker.get(session.worker);
    ofWorker?.delete(session);
    if (ofWorker?.size === 0) this.#byWorker.delete(session.worker);
    this.#changed(session, "changed");
  }

  find(session_id: string): Session | undefined {
    return this.#byId.get(session_id);
  }

  findByToken(token_hash: string): Session | undefined {
    return this.#byToken.get(token_hash);
  }

  findByWorker(worker: string): Session | undefined {
    return [...(this.#byWorker.get(worker) ?? [])].at(-1);
  }

  all(): Iterable<Session> {
    return this.#byId.values();
  }

  /** The sessions whose worker is connected to some server. */
  *connected(replicas: Pick<Replicas, "isLive">): Generator<Session, void, undefined> {
    for (const session of this.#byId.values()) {
      const { isReady, row, ended } = session;
      const { replica, disconnected_at } = row;
      const isThere = replica !== null && disconnected_at === null && replicas.isLive(replica);
      if (isReady || (isThere && !ended)) yield session;
    }
  }

  /** Keeps the holdings in step with the rows, and pushes to owners the events that they do not know. */
  onCommit({ row, events }: Changed, ownerHas: number): void {
    if (row.session !== null) {
      const session = this.#byId.get(row.session);
      if (!session?.isHeld) return;
      if (session.holdings.owns(row)) session.holdings.cleared(row);
      else session.holdings.own(row, this.#ports.monotonic());
      this.push(session, row, events.slice(ownerHas));
    } else if (row.last_session !== null) {
      this.#byId.get(row.last_session)?.holdings.disown(row);
    }
  }

  /** Does the same for what other servers have written. */
  async onNews(rows: readonly RowNews[]): Promise<void> {
    await Promise.all(rows.map((row) => this.#hear(row)));
  }

  /** Tells that a worker may be able to take more: it has connected, been heard, or lost an execution. */
  tellRoom(): void {
    for (const listener of this.#roomListeners) listener();
  }

  /** Calls back when something about a session is otherwise, before anybody acts on it. */
  onChange(listener: ChangeListener): void {
    this.#changeListeners.push(listener);
  }

  readonly #changed: ChangeListener = (session, news) => {
    for (const listener of this.#changeListeners) listener(session, news);
  };

  onRoom(listener: () => void): void {
    this.#roomListeners.push(listener);
  }

  /** Sends an owner events that it does not know, and tells the listeners. */
  push(session: Session, of: Told, events: readonly Event[]): void {
    session.holdings.push(of, events);
    for (const listener of this.#pushListeners) listener(session, of, events);
  }

  onPush(listener: PushListener): void {
    this.#pushListeners.push(listener);
  }

  /** Tells a worker what operators have decided, also where it knows already. */
  desire({ worker, state, timeout_seconds }: Decision): void {
    this.#outdate(worker);
    for (const session of this.#byWorker.get(worker) ?? []) {
      session.desired = state;
      session.send(control(state, timeout_seconds));
    }
    this.tellRoom();
  }

  /**
   * Takes over what operators want and have said of workers, as the store has it, unless newer news came
   * while it was read.
   */
  async lookAtWorkers(
    read: () => Promise<readonly Directed[] | Directed | undefined>,
  ): Promise<void> {
    await this.reading(read, (found, outdated) => {
      for (const worker of [found ?? []].flat()) {
        // Of these the later revision counts, whichever comes first.
        this.seeAttributes(worker);
        const { name, desired_state } = worker;
        if (outdated.has(name)) continue;
        for (const session of this.#byWorker.get(name) ?? []) {
          if (session.desired === desired_state) continue;
          session.desired = desired_state;
          session.send(control(desired_state));
        }
      }
    });
  }

  /**
   * Takes over what operators have said of a worker's name, and tells the worker what that
   * changed. It is of the name's newest session: an answer that was read before a name was forgotten
   * says nothing of who has the name now.
   */
  seeAttributes(worker: Pick<Directed, "session" | "attributes"> | undefined): void {
    const session = worker?.session && this.#byId.get(worker.session.session_id);
    if (!session) return;
    if (!session.seeAttributes(worker.attributes)) return;
    session.tellServices();
    this.tellRoom();
  }

  /**
   * Reads what the store says of workers.
   *
   * @param take Gets the answer, and the workers of which another session or a decision was heard
   *   meanwhile: the answer may be older than that. Nothing is heard between the answer and `take`.
   */
  async reading<Found, Taken>(
    read: () => Promise<Found>,
    take: (found: Found, outdated: ReadonlySet<string>) => Taken,
  ): Promise<Awaited<Taken>> {
    const outdated = new Set<string>();
    this.#looks.add(outdated);
    try {
      return await take(await read(), outdated);
    } finally {
      this.#looks.delete(outdated);
    }
  }

  /** Tells the owner of an execution whether anybody watches its progress. */
  tellListening(execution_id: string, on: boolean): void {
    for (const session of this.#byId.values()) {
      session.holdings.tellListening(execution_id, on);
    }
  }

  async #hear({ id, generation, owner = "", unowned, head, pushed_above: after }: RowNews) {
    const session = this.#byId.get(owner);
    const of = { execution_id: id, generation };
    if (unowned) session?.holdings.disown(of);
    if (unowned || after === undefined || !session?.isHeld || !session.holdings.owns(of)) return;
    const { store, seals } = this.#ports;
    const logged = await store.log.read(id, { after, limit: head - after });
    const events = logged.map(({ event }) => event).filter(({ seq }) => seq <= head);
    const revealed = seals.revealed(id, events);
    const shown = revealed instanceof Promise ? await revealed : revealed;
    this.push(session, { ...of, head }, shown);
  }

  #outdate(worker: string): void {
    for (const outdated of this.#looks) outdated.add(worker);
  }
}
