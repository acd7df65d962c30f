import type { Beat, SessionGuard, SessionRow } from "@engine/store";
import type { EnginePorts, SetTimer } from "../engine-ports.ts";
import { every } from "../every.ts";
import type { LedWork } from "../replicas/leadership.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { HandOvers } from "./hand-over.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { Standstill } from "./standstill.ts";

/** Heartbeats live in memory; this often the store hears of them, if there were any. */
const FLUSH_MS = 5_000;
/** How often the leading server looks for sessions and executions that nobody watches. */
const SWEEP_MS = 5_000;
const ORPHANS = 500;
const RETRY_MS = 1_000;
/** What came while the loop was busy is read for so long before somebody is lost. */
const LISTEN_MS = 250;

interface Heard {
  readonly session: Session;
  /** What it said of itself since the store was told last. */
  readonly said: Beat["said"];
}

interface Parts {
  readonly ports: EnginePorts;
  readonly sessions: Sessions;
  readonly handOvers: HandOvers;
  readonly replicas: Replicas;
}

/**
 * Notices workers that are gone (LIV-2): their stream closed and did not come back, or they went
 * silent. What they ran goes back to the queue; the session itself stays and may reconnect. Each server
 * watches the sessions it holds; the leading one also those whose server is gone (LIV-3). Every wait
 * is counted by a clock that nobody sets: stamps in the store are of several clocks, so they only say
 * whether something has changed.
 */
export class Liveness implements LedWork {
  readonly #ports: EnginePorts;
  readonly #sessions: Sessions;
  readonly #handOvers: HandOvers;
  readonly #replicas: Replicas;
  readonly #watches = new Map<Session, () => void>();
  readonly #standstill: Standstill;
  readonly #heard = new Map<string, Heard>();
  /** Sessions that others hold, or nobody: since when the sweep has found each as it is. */
  readonly #seen = new Map<string, { readonly as: string; readonly since: number }>();
  /** A restarted server hands nothing over by itself: it first waits whether the workers come. */
  readonly #startedAt: number;
  #cancelFlush: (() => void) | undefined;
  #cancelPing: (() => void) | undefined;
  #cancelSweep: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#ports = parts.ports;
    this.#sessions = parts.sessions;
    this.#handOvers = parts.handOvers;
    this.#replicas = parts.replicas;
    this.#standstill = new Standstill(parts.ports);
    this.#startedAt = parts.ports.monotonic();
  }

  /** Every request of a worker says that it lives. */
  heard(session: Session, { hasSaid = false }: { readonly hasSaid?: boolean } = {}): void {
    session.heardAt = this.#ports.monotonic();
    const earlier = this.#heard.get(session.id)?.said;
    const said = hasSaid && session.said ? session.said : earlier;
    this.#heard.set(session.id, { session, said });
    if (!this.#isClosed)
      this.#cancelFlush ??= this.#standstill.after(FLUSH_MS, () => void this.#flush());
  }

  /** Looks again when this session could be lost; called whenever its stream opens or closes. */
  watch(session: Session): void {
    this.unwatch(session);
    if (this.#isClosed || session.ended || !session.isHeld) return;
    const wait = Math.max(this.#left(session) - listenMs(this.#graceMs(session)), 0);
    this.#watches.set(
      session,
      this.#standstill.after(wait, () => this.#listen(session)),
    );
    if (session.isConnected) this.#cancelPing ??= this.#ping();
  }

  unwatch(session: Session): void {
    this.#watches.get(session)?.();
    this.#watches.delete(session);
  }

  /** A stream closed here: the store hears of it, and the session has its grace to come back. */
  disconnected(session: Session): void {
    this.watch(session);
    this.#ports.store.sessions.disconnect(session.id, session.row.epoch).catch((error) => {
      this.#ports.log.warn(
        { err: error, worker: session.worker },
        "could not note a closed stream",
      );
    });
  }

  async start(): Promise<void> {
    this.#cancelSweep?.();
    const after: SetTimer = (run, ms) => this.#standstill.after(ms, run);
    this.#cancelSweep = every(after, { ms: this.#sweepMs }, () => this.#trySweep());
  }

  stop(): void {
    this.#cancelSweep?.();
  }

  /** Ends every timer; what was heard is told to the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#watches.values()) cancel();
    this.#cancelPing?.();
    this.#cancelFlush?.();
    this.#cancelSweep?.();
    await this.#flush();
  }

  /** Gives up sessions that nobody watches, and executions whose owners were given up. */
  async sweep(): Promise<void> {
    const { store, monotonic } = this.#ports;
    const live = await store.sessions.listLive();
    const ids = new Set(live.map(({ session_id }) => session_id));
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    await Promise.all(
      live.filter((row) => this.#isForsaken(row, monotonic())).map((row) => this.#giveUp(row)),
    );
    const orphans = await store.queue.listOrphaned(ORPHANS);
    const owners = new Set(orphans.map(({ session }) => session));
    await Promise.all(
      [...owners].map(async (owner) => {
        const guard = await this.#guardOf(owner);
        if (guard !== "lives") await this.#handOvers.owned(owner, { loss: "session_lost", guard });
      }),
    );
  }

  /**
   * What must hold for what a given-up session owns to be taken: nothing once it has ended; else that
   * it stays given up.
   */
  async #guardOf(session_id: string): Promise<SessionGuard | "lives" | undefined> {
    const row = await this.#ports.store.sessions.find(session_id);
    if (!row || row.ended_at !== null) return undefined;
    return row.lost_at === null ? "lives" : { session: session_id, epoch: row.epoch };
  }

  /** Whether a session has no server that would notice its end. */
  #isForsaken(row: SessionRow, now: number): boolean {
    if (row.lost_at !== null || this.#sessions.find(row.session_id)?.isHeld) return false;
    const { disconnect_grace, silence_timeout } = this.#ports.config.workers;
    const unchanged = now - this.#fresh(this.#unchangedSince(row, now));
    if (now < this.#fresh(this.#startedAt) + silence_timeout * 1000) return false;
    if (row.replica !== null) {
      // A server may be said to hold a stream that it does not know of, when the store's answer to it
      // was lost: then nobody tells the store of the session any more.
      return !this.#replicas.isLive(row.replica) || unchanged > 2 * silence_timeout * 1000;
    }
    const grace = row.disconnected_at === null ? silence_timeout : disconnect_grace;
    return unchanged > grace * 1000;
  }

  /** Since when no server has told the store anything of it, as far as the sweep has seen. */
  #unchangedSince({ session_id, epoch, replica, last_seen_at }: SessionRow, now: number): number {
    const as = `${epoch} ${replica} ${last_seen_at}`;
    const seen = this.#seen.get(session_id);
    if (seen?.as === as) return seen.since;
    this.#seen.set(session_id, { as, since: now });
    return now;
  }

  async #giveUp(row: SessionRow): Promise<void> {
    const { session_id, worker, epoch } = row;
    const lost = await this.#ports.store.sessions.lose(session_id, epoch);
    if (!lost) return;
    this.#ports.log.warn({ worker, why: "its server is gone" }, "worker lost");
    const session = this.#sessions.find(session_id);
    session?.see(lost);
    // What it owned has become orphaned: the second half of the sweep takes it.
  }

  #graceMs(session: Session): number {
    const { disconnect_grace, silence_timeout } = this.#ports.config.workers;
    return (session.closedAt === undefined ? silence_timeout : disconnect_grace) * 1000;
  }

  /** Milliseconds until it is lost. */
  #left(session: Session): number {
    const since = this.#fresh(session.closedAt ?? session.heardAt);
    return since + this.#graceMs(session) - this.#ports.monotonic();
  }

  /** Nobody was heard while this server stood still. */
  #fresh(since: number): number {
    return Math.max(since, this.#standstill.endedAt);
  }

  /** Its time is nearly over: the loop reads once more what has come before the session is judged. */
  #listen(session: Session): void {
    const left = this.#left(session);
    const least = listenMs(this.#graceMs(session));
    if (left > least) {
      this.watch(session);
      return;
    }
    this.#watches.set(
      session,
      this.#standstill.after(Math.max(left, least), () => this.#look(session)),
    );
  }

  #look(session: Session): void {
    this.#watches.delete(session);
    if (this.#left(session) > 0) this.watch(session);
    else this.#lose(session).catch((error) => this.#failed(session, error));
  }

  async #lose(session: Session): Promise<void> {
    const { id, worker, holdings, row } = session;
    if (!session.isHeld || session.ended) return;
    const why = session.isConnected ? "silent" : "disconnected";
    const executions = holdings.owned.size;
    if (session.isConnected && (await this.#isHeardElsewhere(session))) return;
    // The transaction looks again whether another server has its stream by now (LIV-3).
    const lost = await this.#ports.store.sessions.lose(id, row.epoch);
    if (!lost) {
      if (row.epoch === session.row.epoch) this.#forget(session);
      return;
    }
    this.#ports.log.warn({ worker, executions, why }, "worker lost");
    // From here on the closing stream needs no watch of its own: the loss is happening.
    session.see(lost);
    session.closeStream();
    this.unwatch(session);
    await this.#handOvers.all(session, { loss: "session_lost", guard: session.guard });
    // Should it come back, the store knows it: workers that are gone for good are not kept here.
    if (!session.isConnected && session.row.epoch === lost.epoch) this.#forget(session);
  }

  #forget(session: Session): void {
    session.letGo();
    this.#sessions.remove(session);
  }

  /** Behind a balancer its requests may all come to other servers. */
  async #isHeardElsewhere(session: Session): Promise<boolean> {
    if (!this.#replicas.hasPeers) return false;
    const row = await this.#ports.store.sessions.find(session.id);
    // What the store has last is of this server, or was there when it was asked before.
    if (!row || row.last_seen_at === session.notedAt) return false;
    session.notedAt = row.last_seen_at;
    session.heardAt = this.#ports.monotonic();
    this.watch(session);
    return true;
  }

  #ping(): () => void {
    const everyMs = this.#ports.config.workers.heartbeat_interval * 1000;
    return this.#standstill.after(everyMs, () => {
      let anybody = false;
      for (const session of this.#sessions.all()) {
        anybody ||= session.isConnected;
        session.send({ event: "ping", data: {} });
      }
      this.#cancelPing = anybody ? this.#ping() : undefined;
    });
  }

  async #trySweep(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.#ports.log.warn({ err: error }, "could not look for lost workers");
    }
  }

  /** Alone, a server has only its own past to look after. */
  get #sweepMs(): number {
    const { safety_interval } = this.#ports.config.dispatch;
    return this.#replicas.isShared ? SWEEP_MS : safety_interval * 1000;
  }

  async #flush(): Promise<void> {
    this.#cancelFlush = undefined;
    if (this.#heard.size === 0) return;
    const { store, clock, monotonic } = this.#ports;
    const heard = [...this.#heard.values()];
    this.#heard.clear();
    const zero = clock() - monotonic();
    const beats = heard.map(({ session, said }): Beat => {
      session.notedAt = Math.round(zero + session.heardAt);
      return { session_id: session.id, at: session.notedAt, ...(said && { said }) };
    });
    try {
      await store.beats.note(beats);
    } catch (error) {
      this.#ports.log.warn({ err: error }, "could not note heartbeats");
    }
  }

  #failed(session: Session, error: unknown): void {
    const { worker } = session;
    this.#ports.log.error({ err: error, worker }, "could not give a worker up; it is tried again");
    if (this.#isClosed || this.#watches.has(session)) return;
    this.#watches.set(
      session,
      this.#standstill.after(RETRY_MS, () => this.#look(session)),
    );
  }
}

/** A grace that is short itself is not spent on listening alone. */
function listenMs(graceMs: number): number {
  return Math.min(LISTEN_MS, graceMs / 2);
}
