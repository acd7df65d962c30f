import type { EnginePorts } from "../engine-ports.ts";
import type { HandOvers } from "./hand-over.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** Heartbeats live in memory; this often the store hears of them, if there were any. */
const FLUSH_MS = 5_000;

/**
 * Notices workers that are gone (LIV-2): their stream closed and did not come back, or they went
 * silent. What they ran goes back to the queue; the session itself stays and may reconnect.
 */
export class Liveness {
  readonly #ports: EnginePorts;
  readonly #sessions: Sessions;
  readonly #handOvers: HandOvers;
  readonly #watches = new Map<Session, () => void>();
  readonly #heard = new Set<string>();
  #cancelFlush: (() => void) | undefined;
  #cancelPing: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: { ports: EnginePorts; sessions: Sessions; handOvers: HandOvers }) {
    this.#ports = parts.ports;
    this.#sessions = parts.sessions;
    this.#handOvers = parts.handOvers;
  }

  /** Every request of a worker says that it lives. */
  heard(session: Session): void {
    session.heardAt = this.#ports.clock();
    session.isInherited = false;
    this.#heard.add(session.id);
    if (!this.#isClosed)
      this.#cancelFlush ??= this.#ports.setTimer(() => void this.#flush(), FLUSH_MS);
  }

  /** Looks again when this session could be lost; called whenever its stream opens or closes. */
  watch(session: Session): void {
    this.#watches.get(session)?.();
    this.#watches.delete(session);
    if (this.#isClosed || session.ended) return;
    const wait = Math.max(this.#lostAt(session) - this.#ports.clock(), 0);
    const cancel = this.#ports.setTimer(() => this.#look(session), wait);
    this.#watches.set(session, cancel);
    if (session.isConnected) this.#cancelPing ??= this.#ping();
  }

  unwatch(session: Session): void {
    this.#watches.get(session)?.();
    this.#watches.delete(session);
  }

  /** Ends every timer; what was heard is told to the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#watches.values()) cancel();
    this.#cancelPing?.();
    this.#cancelFlush?.();
    await this.#flush();
  }

  #lostAt(session: Session): number {
    const { disconnect_grace, silence_timeout } = this.#ports.config.workers;
    if (session.closedAt !== undefined) return session.closedAt + disconnect_grace * 1000;
    return session.heardAt + silence_timeout * 1000;
  }

  #look(session: Session): void {
    this.#watches.delete(session);
    if (this.#ports.clock() < this.#lostAt(session)) this.watch(session);
    else this.#lose(session).catch((error) => this.#failed(session, error));
  }

  async #lose(session: Session): Promise<void> {
    const { id, worker, isInherited, owned } = session;
    const why = session.isConnected ? "silent" : "disconnected";
    this.#ports.log.warn({ worker, executions: owned.size, why }, "worker lost");
    // From here on the closing stream needs no watch of its own: the loss is happening.
    session.closeStream();
    this.unwatch(session);
    await this.#handOvers.all(session);
    // Known only from an earlier life of the server, and nobody came: it will not.
    if (!isInherited || !session.isInherited) return;
    session.ended = "disconnected";
    this.#sessions.remove(session);
    await this.#ports.store.endSession(id, "lost");
  }

  #ping(): () => void {
    const everyMs = this.#ports.config.workers.heartbeat_interval * 1000;
    return this.#ports.setTimer(() => {
      let anybody = false;
      for (const session of this.#sessions.all()) {
        anybody ||= session.isConnected;
        session.send({ event: "ping", data: {} });
      }
      this.#cancelPing = anybody ? this.#ping() : undefined;
    }, everyMs);
  }

  async #flush(): Promise<void> {
    this.#cancelFlush = undefined;
    if (this.#heard.size === 0) return;
    const heard = [...this.#heard];
    this.#heard.clear();
    try {
      await this.#ports.store.touchSessions(heard, this.#ports.clock());
    } catch (error) {
      this.#ports.log.warn({ err: error }, "could not note heartbeats");
    }
  }

  #failed(session: Session, error: unknown): void {
    const { worker } = session;
    this.#ports.log.error({ err: error, worker }, "could not hand over; the safety tick retries");
  }
}
