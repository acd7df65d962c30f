import type { Beat, SessionGuard, SessionRow } from "@engine/store";
import type { EnginePorts, SetTimer } from "../engine-ports.ts";
import { every } from "../every.ts";
import type { LedWork } from "../replicas/leadership.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { HandOvers } from "./hand-over.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { Standstill } from "./standstill.ts";

/** Heartbeats are kept in memory; this often the store is told of them. */
const FLUSH_MS = 5_000;
/** How often the leading server looks for sessions and executions that nobody watches. */
const SWEEP_MS = 5_000;
const ORPHANS = 500;
const RETRY_MS = 1_000;
/** Before a worker is given up, messages that came while the loop was busy are read for so long. */
const LISTEN_MS = 250;

interface Heard {
  readonly session: Session;
  /** What the worker said of itself since the store was told last. */
  readonly said: Beat["said"];
}

interface Parts {
  readonly ports: EnginePorts;
  readonly sessions: Sessions;
  readonly handOvers: HandOvers;
  readonly replicas: Replicas;
}

/**
 * Notices workers that are gone (LIV-2): their stream closed and did not come back, or they went silent.
 * Their executions go back to the queue; the session stays and may reconnect. Each server watches the
 * sessions it holds; the leading one also watches those whose server is gone (LIV-3). Every wait is
 * counted by a clock that nobody sets. Stamps in the store are of several clocks, and so only say
 * whether something has changed.
 */
export class Liveness implements LedWork {
  readonly #parts: Parts;
  readonly #ports: EnginePorts;
  readonly #watches = new Map<Session, () => void>();
  readonly #standstill: Standstill;
  readonly #heard = new Map<string, Heard>();
  /** Sessions that this server does not hold: since when the sweep has found each unchanged. */
  readonly #seen = new Map<string, { readonly as: string; readonly since: number }>();
  /** A restarted server first waits whether the workers come back, and hands nothing over before. */
  readonly #startedAt: number;
  #cancelFlush: (() => void) | undefined;
  #cancelPing: (() => void) | undefined;
  #cancelSweep: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ports = parts.ports;
    this.#standstill = new Standstill(parts.ports);
    this.#startedAt = parts.ports.monotonic();
  }

  /** Notes a request of a worker, which says that the worker lives. */
  heard(session: Session, { hasSaid = false }: { readonly hasSaid?: boolean } = {}): void {
    session.heardAt = this.#ports.monotonic();
    const earlier = this.#heard.get(session.id)?.said;
    const said = hasSaid && session.said ? session.said : earlier;
    this.#heard.set(session.id, { session, said });
    if (!this.#isClosed)
      this.#cancelFlush ??= this.#standstill.after(FLUSH_MS, () => void this.#flush());
  }

  /** Sets the timer for when this session could be lost; called when its stream opens or closes. */
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

  /** Notes a stream that closed here: the store is told, and the session gets its grace to come back. */
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
    // A server that is alone only has to look for executions that its earlier life left.
    const { safety_interval } = this.#ports.config.dispatch;
    const ms = this.#parts.replicas.isShared ? SWEEP_MS : safety_interval * 1000;
    this.#cancelSweep = every(after, { ms }, () => this.#trySweep());
  }

  stop(): void {
    this.#cancelSweep?.();
  }

  /** Ends every timer, and tells the store what was heard. */
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
        if (guard !== "lives")
          await this.#parts.handOvers.owned(owner, { loss: "session_lost", guard });
      }),
    );
  }

  /**
   * What must hold for the executions of a given-up session to be taken: nothing once it has ended;
   * before that, that it is still given up.
   */
  async #guardOf(session_id: string): Promise<SessionGuard | "lives" | undefined> {
    const row = await this.#ports.store.sessions.find(session_id);
    if (!row || row.ended_at !== null) return undefined;
    return row.lost_at === null ? "lives" : { session: session_id, epoch: row.epoch };
  }

  /** Whether a session has no server that would notice its end. */
  #isForsaken(row: SessionRow, now: number): boolean {
    if (row.lost_at !== null || this.#parts.sessions.find(row.session_id)?.isHeld) return false;
    const { disconnect_grace, silence_timeout } = this.#ports.config.workers;
    const unchanged = now - this.#fresh(this.#unchangedSince(row, now));
    if (now < this.#fresh(this.#startedAt) + silence_timeout * 1000) return false;
    if (row.replica !== null) {
      // Where the store's answer to a server was lost, the row names a server that does not know the
      // stream. Then no server tells the store of the session.
      return !this.#parts.replicas.isLive(row.replica) || unchanged > 2 * silence_timeout * 1000;
    }
    const grace = row.disconnected_at === null ? silence_timeout : disconnect_grace;
    return unchanged > grace * 1000;
  }

  /** Since when the row has not changed, as far as the sweep has seen. */
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
    this.#parts.sessions.find(session_id)?.see(lost);
    // Its executions are orphans now: the second half of the sweep takes them.
  }

  #graceMs(session: Session): number {
    const { disconnect_grace, silence_timeout } = this.#ports.config.workers;
    return (session.closedAt === undefined ? silence_timeout : disconnect_grace) * 1000;
  }

  /** Milliseconds until a session is lost. */
  #left(session: Session): number {
    const since = this.#fresh(session.closedAt ?? session.heardAt);
    return since + this.#graceMs(session) - this.#ports.monotonic();
  }

  /** Since when a worker counts as silent: while this server stood still, it could hear nobody. */
  #fresh(since: number): number {
    return Math.max(since, this.#standstill.endedAt);
  }

  /** Shortly before a session is judged, lets the loop read the messages that have come. */
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
    // The transaction checks whether another server has the stream by now (LIV-3).
    const lost = await this.#ports.store.sessions.lose(id, row.epoch);
    if (!lost) {
      if (row.epoch === session.row.epoch) this.#forget(session);
      return;
    }
    this.#ports.log.warn({ worker, executions, why }, "worker lost");
    // The stream that closes here needs no watch: its session is lost already.
    session.see(lost);
    session.closeStream();
    this.unwatch(session);
    await this.#parts.handOvers.all(session, { loss: "session_lost", guard: session.guard });
    // If the worker comes back, its session is read from the store.
    if (!session.isConnected && session.row.epoch === lost.epoch) this.#forget(session);
  }

  #forget(session: Session): void {
    session.letGo();
    this.#parts.sessions.remove(session);
  }

  /** Whether another server has heard the worker: behind a balancer, requests may all go there. */
  async #isHeardElsewhere(session: Session): Promise<boolean> {
    if (!this.#parts.replicas.hasPeers) return false;
    const row = await this.#ports.store.sessions.find(session.id);
    // The stamp is this server's own, or the one that it read before.
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
      for (const session of this.#parts.sessions.all()) {
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

/** Of a short grace, at most half is spent on listening. */
function listenMs(graceMs: number): number {
  return Math.min(LISTEN_MS, graceMs / 2);
}
