import {
  beginSession,
  continuedValues,
  continueSession,
  continueSessionSql,
  insertSessionSql,
  isNewsSql,
  type StoredSession,
  sessionSql,
  sessionValues,
  supersededSession,
  toSession,
} from "../session-record.ts";
import type { Beat, NewSession, OpenedSession, SessionRow } from "../store.ts";
import { assertNotFoughtOver, takeoversSql } from "../taken-name.ts";
import type { Connection, Statement } from "./connection.ts";
import type { GroupCommit, Write } from "./group-commit.ts";
import type { Replicas } from "./replicas.ts";
import type { SessionGuards } from "./session-guards.ts";

const SESSION_SQL = sessionSql();

/** The sessions of workers: one process life each, one live one per name. */
export class Sessions {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #guards: SessionGuards;
  readonly #replicas: Replicas;
  readonly #registered: Statement<unknown>;
  readonly #takeovers: Statement<{ ended_at: number }>;
  readonly #live: Statement<StoredSession>;
  readonly #insert: Statement<unknown>;
  readonly #register: Statement<unknown>;
  readonly #continue: Statement<unknown>;
  readonly #end: Statement<unknown>;
  readonly #connect: Statement<StoredSession>;
  readonly #disconnect: Statement<unknown>;
  readonly #lose: Statement<StoredSession>;
  readonly #beats: Statement<unknown>;
  readonly #bySecret: Statement<StoredSession>;
  readonly #byId: Statement<StoredSession>;
  readonly #allLive: Statement<StoredSession>;

  constructor(parts: {
    readonly connection: Connection;
    readonly commits: GroupCommit;
    readonly guards: SessionGuards;
    readonly replicas: Replicas;
  }) {
    const { connection, commits, guards, replicas } = parts;
    this.#connection = connection;
    this.#commits = commits;
    this.#guards = guards;
    this.#replicas = replicas;
    const select = `SELECT ${SESSION_SQL} FROM sessions`;
    this.#registered = connection.prepare("SELECT 1 FROM workers WHERE name = ?");
    const isLive = "replica IN (SELECT value FROM json_each(?))";
    this.#takeovers = connection.prepare(takeoversSql({ name: "?", isLive }));
    this.#live = connection.prepare(`${select} WHERE worker = ? AND ended_at IS NULL`);
    this.#insert = connection.prepare(insertSessionSql(() => "?"));
    // A name that was drained serves again with its next process; a paused one waits (WRK-11, 12).
    this.#register = connection.prepare(`
      INSERT INTO workers (name, registered_at) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET desired_state = 'active' WHERE desired_state = 'draining'`);
    this.#continue = connection.prepare(continueSessionSql(() => "?"));
    this.#end = connection.prepare(`
      UPDATE sessions SET ended_at = ?, end_reason = ?, epoch = epoch + 1
      WHERE session_id = ? AND ended_at IS NULL`);
    this.#connect = connection.prepare(`
      UPDATE sessions SET replica = ?, epoch = epoch + 1, connected_at = ?, disconnected_at = NULL,
        lost_at = NULL
      WHERE session_id = ? AND ended_at IS NULL RETURNING ${SESSION_SQL}`);
    this.#disconnect = connection.prepare(`
      UPDATE sessions SET replica = NULL, disconnected_at = coalesce(disconnected_at, ?)
      WHERE session_id = ? AND epoch = ? AND ended_at IS NULL`);
    this.#lose = connection.prepare(`
      UPDATE sessions SET replica = NULL, epoch = epoch + 1, lost_at = ?
      WHERE session_id = ? AND epoch = ? AND lost_at IS NULL AND ended_at IS NULL
      RETURNING ${SESSION_SQL}`);
    const isSeen = isNewsSql("excluded.seen_at", "seen_at");
    const isSaid = isNewsSql("excluded.said_at", "said_at");
    this.#beats = connection.prepare(`
      INSERT INTO session_beats (session_id, seen_at, said_at, said)
      SELECT value ->> 'session_id', value ->> 'at', iif(value -> 'said' IS NULL, NULL, value ->> 'at'),
        value -> 'said'
      FROM json_each(?) WHERE EXISTS (
        SELECT 1 FROM sessions WHERE session_id = value ->> 'session_id' AND ended_at IS NULL)
      ON CONFLICT DO UPDATE SET
        seen_at = iif(${isSeen}, excluded.seen_at, seen_at),
        said_at = iif(${isSaid}, excluded.said_at, said_at),
        said = iif(${isSaid}, excluded.said, said)`);
    this.#bySecret = connection.prepare(`
      ${select} WHERE worker = ? AND token_hash = ?
      ORDER BY (ended_at IS NULL) DESC, created_at DESC LIMIT 1`);
    this.#byId = connection.prepare(`${select} WHERE session_id = ?`);
    this.#allLive = connection.prepare(`${select} WHERE ended_at IS NULL ORDER BY worker`);
  }

  open(fresh: NewSession): Promise<OpenedSession> {
    return this.#write((at) => {
      const is_new_worker = this.#registered.get(fresh.worker) === undefined;
      const stored = this.#live.get(fresh.worker);
      const earlier = stored && toSession(stored);
      if (earlier?.instance_id === fresh.instance_id) {
        const session = continueSession(earlier, fresh, at);
        this.#continue.run(...continuedValues(fresh), at, session.session_id);
        return { session, is_new_worker, continued: true, superseded: undefined };
      }
      const live = JSON.stringify(this.#replicas.live);
      assertNotFoughtOver(fresh.worker, this.#takeovers.all(fresh.worker, live), at);
      if (earlier) this.#end.run(at, "superseded", earlier.session_id);
      this.#register.run(fresh.worker, at);
      const session = beginSession(fresh, at);
      this.#insert.run(...sessionValues(session));
      const superseded = earlier && supersededSession(earlier, at);
      return { session, is_new_worker, continued: false, superseded };
    });
  }

  connect(session_id: string, replica: string): Promise<SessionRow | undefined> {
    return this.#write((at) => found(this.#connect.get(replica, at, session_id)));
  }

  disconnect(session_id: string, epoch: number): Promise<boolean> {
    return this.#write((at) => this.#disconnect.run(at, session_id, epoch) > 0);
  }

  lose(session_id: string, epoch: number): Promise<SessionRow | undefined> {
    return this.#write((at) => found(this.#lose.get(at, session_id, epoch)));
  }

  end(session_id: string, reason: "lost" | "disconnected"): Promise<void> {
    return this.#write((at) => {
      this.#end.run(at, reason, session_id);
    });
  }

  async noteBeats(beats: readonly Beat[]): Promise<void> {
    if (beats.length === 0) return;
    await this.#commits.write(() => this.#beats.run(JSON.stringify(beats)));
  }

  findBySecret(worker: string, token_hash: string): Promise<SessionRow | undefined> {
    return this.#connection.read(() => found(this.#bySecret.get(worker, token_hash)));
  }

  findById(session_id: string): Promise<SessionRow | undefined> {
    return this.#connection.read(() => found(this.#byId.get(session_id)));
  }

  listLive(): Promise<readonly SessionRow[]> {
    return this.#connection.read(() => this.#allLive.all().map(toSession));
  }

  /** Guards look at what is written here. */
  #write<Value>(write: Write<Value>): Promise<Value> {
    return this.#commits.write((at) => {
      this.#guards.forget();
      return write(at);
    });
  }
}

function found(row: StoredSession | undefined): SessionRow | undefined {
  return row && toSession(row);
}
