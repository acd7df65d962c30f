import { hash } from "node:crypto";
import { EngineError, type SessionRef } from "@engine/contract";
import type { SessionRow } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { Liveness } from "./liveness.ts";
import { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** The hash of a session's secret, which is all that is kept of it. */
export function tokenHash(token: string): string {
  return hash("sha256", token, "hex");
}

interface Parts {
  readonly ports: EnginePorts;
  readonly sessions: Sessions;
  readonly liveness: Liveness;
}

/** Finds sessions and keeps them as the store has them, also those that other servers opened, hold or ended. */
export class SessionLookup {
  readonly #ports: EnginePorts;
  readonly #sessions: Sessions;
  readonly #liveness: Liveness;

  constructor({ ports, sessions, liveness }: Parts) {
    this.#ports = ports;
    this.#sessions = sessions;
    this.#liveness = liveness;
  }

  /** Reads all sessions and what operators want of workers: at the start, and where news were lost. */
  async refresh(): Promise<void> {
    const { store } = this.#ports;
    // Sessions that come during the read are not in its answer.
    const before = [...this.#sessions.all()];
    await this.#sessions.reading(
      () => store.sessions.listLive(),
      (live, outdated) => this.#takeAll(live, { before, outdated }),
    );
    await this.#sessions.lookAtWorkers(() => store.workers.list());
  }

  #takeAll(
    rows: readonly SessionRow[],
    of: { readonly before: readonly Session[]; readonly outdated: ReadonlySet<string> },
  ): void {
    const live = new Set(rows.map((row) => row.session_id));
    for (const session of of.before) {
      if (!live.has(session.id) && !session.isHeld) this.#sessions.remove(session);
    }
    for (const row of rows) {
      const known = this.#sessions.find(row.session_id);
      if (known) this.#see(known, row);
      // A lost session is of no use before it connects, and is looked up then.
      else if (row.lost_at === null && !of.outdated.has(row.worker)) {
        this.#sessions.add(new Session(row, this.#ports.monotonic), row.token_hash);
      }
    }
  }

  /** Reads a session anew, since the store has refused what this server wanted of it. */
  async lookAgain({ id, worker }: Session): Promise<void> {
    await this.look(id);
    await this.#sessions.lookAtWorkers(() => this.#ports.store.workers.find(worker));
  }

  /** Reads a session to which something happened on another server. */
  async look(session_id: string): Promise<void> {
    try {
      await this.#sessions.reading(
        () => this.#ports.store.sessions.find(session_id),
        (row, outdated) => this.#take(session_id, row, outdated),
      );
      this.#sessions.tellRoom();
    } catch (error) {
      this.#ports.log.debug({ err: error }, "could not look at a session; the safety tick does");
    }
  }

  async #take(
    session_id: string,
    row: SessionRow | undefined,
    outdated: ReadonlySet<string>,
  ): Promise<void> {
    const known = this.#sessions.find(session_id);
    if (!row || row.ended_at !== null) {
      if (!known) return;
      known.letGo();
      this.#liveness.unwatch(known);
      this.#sessions.remove(known);
    } else if (known) this.#see(known, row);
    // Another process of the name may have ended this session by now, and must not be hidden behind it.
    else if (outdated.has(row.worker)) await this.look(session_id);
    else if (row.lost_at === null) await this.#meet(row);
  }

  /**
   * The worker whose secret this is, for a request that names only an execution (WRK-6). A session that
   * this server does not know is found by that execution, which it owns or owned last.
   */
  async workerOf(token: string, execution_id: string): Promise<string> {
    const token_hash = tokenHash(token);
    const known = this.#sessions.findByToken(token_hash);
    if (known) return known.worker;
    const { store } = this.#ports;
    const row = await store.executions.find(execution_id);
    const session_id = row?.session ?? row?.last_session;
    const owner = session_id ? await store.sessions.find(session_id) : undefined;
    if (owner?.token_hash === token_hash) return owner.worker;
    throw sessionUnknown();
  }

  /**
   * The session of many calls, looked up once. It stays the same while this server knows it by that
   * secret and it has not ended. After that every call is looked up like a first one, and refused like
   * a first one.
   */
  async follow(ref: SessionRef): Promise<() => Promise<Session>> {
    const token_hash = tokenHash(ref.session);
    let session = await this.identify(ref);
    return async () => {
      const isKnown = this.#sessions.findByToken(token_hash) === session && !session.ended;
      if (isKnown) this.#liveness.heard(session);
      else session = await this.identify(ref);
      return session;
    };
  }

  /** The session whose secret this is; every call says that its worker lives. */
  async identify({ worker, session: token }: SessionRef): Promise<Session> {
    const token_hash = tokenHash(token);
    const session =
      this.#sessions.findByToken(token_hash) ?? (await this.#find(worker, token_hash));
    if (session.worker !== worker) {
      const message = `the session belongs to another worker than ${worker}`;
      throw new EngineError("permission_denied", message);
    }
    if (session.ended === "superseded") throw await this.#superseded(worker);
    if (session.ended) throw sessionUnknown(worker);
    this.#liveness.heard(session);
    return session;
  }

  /** Finds a session that registered with another server and that this one does not know. */
  #find(worker: string, token_hash: string): Promise<Session> {
    return this.#sessions.reading(
      () => this.#ports.store.sessions.findBySecret(worker, token_hash),
      async (row, outdated): Promise<Session> => {
        if (row?.end_reason === "superseded") throw await this.#superseded(worker);
        if (!row || row.ended_at !== null) throw sessionUnknown(worker);
        if (this.#sessions.find(row.session_id)) return this.learn(row, token_hash);
        return outdated.has(worker) ? this.#find(worker, token_hash) : this.#meet(row);
      },
    );
  }

  /** Takes up a session that this server did not know; reads what operators want of its worker. */
  async #meet(row: SessionRow): Promise<Session> {
    const session = new Session(row, this.#ports.monotonic);
    this.#sessions.add(session, row.token_hash);
    await this.#sessions.lookAtWorkers(() => this.#ports.store.workers.find(row.worker));
    return session;
  }

  /** The session of a row that the store has just given, known by that secret from now on. */
  learn(row: SessionRow, token_hash: string): Session {
    const session = this.#sessions.find(row.session_id) ?? new Session(row, this.#ports.monotonic);
    this.#see(session, row);
    this.#sessions.add(session, token_hash);
    return session;
  }

  /**
   * A later epoch than this server's says that another one has the session: what this one held of it
   * is over, and it must not give work by the other's epoch.
   */
  #see(session: Session, row: SessionRow): void {
    const isTaken = session.isHeld && row.epoch > session.row.epoch;
    const isRenewed = row.token_hash !== session.row.token_hash;
    session.see(row);
    if (isRenewed) this.#sessions.add(session, row.token_hash);
    if (!isTaken) return;
    session.letGo();
    this.#liveness.unwatch(session);
  }

  async #superseded(worker: string): Promise<EngineError> {
    const heir = (await this.#ports.store.workers.find(worker))?.session;
    return new EngineError(
      "session_superseded",
      `another process has taken over the name ${worker}; this one stops`,
      heir ? { details: { host: heir.host, pid: heir.pid } } : {},
    );
  }
}

function sessionUnknown(worker?: string): EngineError {
  const who = worker === undefined ? "there is" : `worker ${worker} has`;
  return new EngineError(
    "session_unknown",
    `${who} no such session; the worker registers again and keeps its executions`,
  );
}
