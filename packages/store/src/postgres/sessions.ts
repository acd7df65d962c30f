import { REPLICA_GONE_MS } from "../replica-silence.ts";
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
import type { Database, Statement } from "./database.ts";
import type { Serial } from "./serial.ts";

/** Whoever begins a session of a name, or forgets the name, does so alone, on whichever replica. */
export const LOCK_WORKER_SQL =
  "SELECT pg_advisory_xact_lock(hashtextextended('engine worker ' || $1, 0))";

/** The sessions of workers: one process life each, one live one per name, on any replica. */
export class Sessions {
  readonly #database: Database;
  readonly #writes: Serial;
  readonly #beatWrites: Serial;
  readonly #clock: () => number;
  readonly #lock: Statement;
  readonly #registered: Statement;
  readonly #takeovers: Statement;
  readonly #live: Statement;
  readonly #insert: Statement;
  readonly #register: Statement;
  readonly #continue: Statement;
  readonly #end: Statement;
  readonly #connect: Statement;
  readonly #disconnect: Statement;
  readonly #lose: Statement;
  readonly #beats: Statement;
  readonly #bySecret: Statement;
  readonly #byId: Statement;
  readonly #allLive: Statement;

  constructor(
    database: Database,
    writes: { readonly sessions: Serial; readonly beats: Serial },
    clock: () => number,
  ) {
    this.#database = database;
    this.#writes = writes.sessions;
    this.#beatWrites = writes.beats;
    this.#clock = clock;
    const columns = sessionSql();
    const select = `SELECT ${columns} FROM sessions`;
    const parameter = (n: number) => `$${n}`;
    this.#lock = database.prepare(LOCK_WORKER_SQL);
    this.#registered = database.prepare("SELECT 1 FROM workers WHERE name = $1");
    const isLive = `replica IN (SELECT replica FROM replicas WHERE seen_at > now() - interval '${REPLICA_GONE_MS} milliseconds')`;
    this.#takeovers = database.prepare(takeoversSql({ name: "$1", isLive }));
    this.#live = database.prepare(`${select} WHERE worker = $1 AND ended_at IS NULL`);
    this.#insert = database.prepare(insertSessionSql(parameter));
    // A name that was drained serves again with its next process; a paused one waits (WRK-11, 12).
    this.#register = database.prepare(`
      INSERT INTO workers AS w (name, registered_at) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET desired_state = 'active' WHERE w.desired_state = 'draining'`);
    this.#continue = database.prepare(continueSessionSql(parameter));
    this.#end = database.prepare(`
      UPDATE sessions SET ended_at = $1, end_reason = $2, epoch = epoch + 1
      WHERE session_id = $3 AND ended_at IS NULL`);
    this.#connect = database.prepare(`
      UPDATE sessions SET replica = $1, epoch = epoch + 1, connected_at = $2,
        disconnected_at = NULL, lost_at = NULL
      WHERE session_id = $3 AND ended_at IS NULL RETURNING ${columns}`);
    this.#disconnect = database.prepare(`
      UPDATE sessions SET replica = NULL, disconnected_at = coalesce(disconnected_at, $1)
      WHERE session_id = $2 AND epoch = $3 AND ended_at IS NULL RETURNING 1`);
    this.#lose = database.prepare(`
      UPDATE sessions SET replica = NULL, epoch = epoch + 1, lost_at = $1
      WHERE session_id = $2 AND epoch = $3 AND lost_at IS NULL AND ended_at IS NULL
      RETURNING ${columns}`);
    const isSeen = isNewsSql("excluded.seen_at", "b.seen_at");
    const isSaid = isNewsSql("excluded.said_at", "b.said_at");
    // In one order: two replicas that have heard of the same sessions do not wait for each other.
    this.#beats = database.prepare(`
      INSERT INTO session_beats AS b (session_id, seen_at, said_at, said)
      SELECT heard.session_id, at, CASE WHEN said IS NOT NULL THEN at END, said::text
      FROM json_to_recordset($1::json) AS heard (session_id text, at bigint, said json)
      WHERE EXISTS (
        SELECT 1 FROM sessions AS s WHERE s.session_id = heard.session_id AND ended_at IS NULL)
      ORDER BY heard.session_id
      ON CONFLICT (session_id) DO UPDATE SET
        seen_at = CASE WHEN ${isSeen} THEN excluded.seen_at ELSE b.seen_at END,
        said_at = CASE WHEN ${isSaid} THEN excluded.said_at ELSE b.said_at END,
        said = CASE WHEN ${isSaid} THEN excluded.said ELSE b.said END`);
    this.#bySecret = database.prepare(`
      ${select} WHERE worker = $1 AND token_hash = $2
      ORDER BY (ended_at IS NULL) DESC, created_at DESC LIMIT 1`);
    this.#byId = database.prepare(`${select} WHERE session_id = $1`);
    this.#allLive = database.prepare(`${select} WHERE ended_at IS NULL ORDER BY worker`);
  }

  open(fresh: NewSession): Promise<OpenedSession> {
    const { worker } = fresh;
    return this.#writes.write(() =>
      this.#database.transaction(async (lane) => {
        await lane.pipelined([this.#lock, worker]);
        const [names = [], live = [], takeovers = []] = (await lane.pipelined<unknown>(
          [this.#registered, worker],
          [this.#live, worker],
          [this.#takeovers, worker],
        )) as [unknown[], StoredSession[], { ended_at: number }[]];
        const at = this.#clock();
        const is_new_worker = names.length === 0;
        const earlier = live[0] && toSession(live[0]);
        if (earlier?.instance_id === fresh.instance_id) {
          const session = continueSession(earlier, fresh, at);
          const values = continuedValues(fresh);
          await lane.pipelined([this.#continue, ...values, at, session.session_id]);
          return { session, is_new_worker, continued: true, superseded: undefined };
        }
        assertNotFoughtOver(worker, takeovers, at);
        // Before the insert: a name has one live session at most.
        if (earlier) await lane.pipelined([this.#end, at, "superseded", earlier.session_id]);
        const session = beginSession(fresh, at);
        await lane.pipelined(
          [this.#register, worker, at],
          [this.#insert, ...sessionValues(session)],
        );
        const superseded = earlier && supersededSession(earlier, at);
        return { session, is_new_worker, continued: false, superseded };
      }),
    );
  }

  connect(session_id: string, replica: string): Promise<SessionRow | undefined> {
    return this.#change(this.#connect, replica, this.#clock(), session_id);
  }

  disconnect(session_id: string, epoch: number): Promise<boolean> {
    return this.#writes.write(async () => {
      const at = this.#clock();
      const rows = await this.#database.write(this.#disconnect, at, session_id, epoch);
      return rows.length > 0;
    });
  }

  lose(session_id: string, epoch: number): Promise<SessionRow | undefined> {
    return this.#change(this.#lose, this.#clock(), session_id, epoch);
  }

  async end(session_id: string, reason: "lost" | "disconnected"): Promise<void> {
    await this.#writes.write(() =>
      this.#database.write(this.#end, this.#clock(), reason, session_id),
    );
  }

  async noteBeats(beats: readonly Beat[]): Promise<void> {
    if (beats.length === 0) return;
    const text = JSON.stringify(onePerSession(beats));
    await this.#beatWrites.write(() => this.#database.write(this.#beats, text));
  }

  async findBySecret(worker: string, token_hash: string): Promise<SessionRow | undefined> {
    return first(await this.#database.read<StoredSession>(this.#bySecret, worker, token_hash));
  }

  async findById(session_id: string): Promise<SessionRow | undefined> {
    return first(await this.#database.read<StoredSession>(this.#byId, session_id));
  }

  async listLive(): Promise<readonly SessionRow[]> {
    const rows = await this.#database.read<StoredSession>(this.#allLive);
    return rows.map(toSession);
  }

  #change(statement: Statement, ...values: (string | number)[]): Promise<SessionRow | undefined> {
    return this.#writes.write(async () =>
      first((await this.#database.write(statement, ...values)) as StoredSession[]),
    );
  }
}

function first([row]: readonly StoredSession[]): SessionRow | undefined {
  return row && toSession(row);
}

/** One statement can write a row only once. */
function onePerSession(beats: readonly Beat[]): readonly Beat[] {
  const merged = new Map<string, Beat>();
  for (const beat of [...beats].sort((a, b) => a.at - b.at)) {
    merged.set(beat.session_id, { ...merged.get(beat.session_id), ...beat });
  }
  return [...merged.values()];
}
