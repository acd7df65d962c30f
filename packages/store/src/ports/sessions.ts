import { withGrants } from "@engine/contract";
import {
  count,
  first,
  lock,
  now,
  type Operation,
  type Operations,
  reads,
  rows,
  run,
  together,
  writes,
  writesOnce,
} from "../operations/operation.ts";
import { anyOf, assigned, insertInto, type Sql, skipLocked, sql } from "../operations/sql.ts";
import {
  beginSession,
  continueSession,
  type NewSession,
  SESSION_COLUMNS,
  type SessionRow,
  type StoredSession,
  storedContinuation,
  storedSession,
  supersededSession,
  toSession,
} from "../session-record.ts";
import { assertNotFoughtOver, takeoversOf } from "../taken-name.ts";
import type { Admission, Verdict } from "../worker-admission.ts";
import { admitting } from "./admitting.ts";
import { changingAttributes } from "./worker-attributes.ts";
import { workerLock } from "./worker-lock.ts";

export interface OpenedSession {
  readonly session: SessionRow;
  /** The name registered for the first time. */
  readonly is_new_worker: boolean;
  /** The same process registered again: its session goes on under the new secret. */
  readonly continued: boolean;
  /** The session of another process that this one ended (WRK-4). */
  readonly superseded: SessionRow | undefined;
}

export type AdmittedSession =
  | { readonly refused: Exclude<Verdict, "accepted">; readonly opened: undefined }
  | { readonly refused: undefined; readonly opened: OpenedSession };

/** The sessions of workers: one process life each, one live one per name. */
export interface SessionPort {
  /**
   * Begins a session, or goes on with the live one of the same process, whose labels must be the
   * same (else `labels_immutable`). Another process of the name loses its session in the same
   * transaction; its executions stay as they are, for the server to hand over.
   */
  open(session: NewSession): Promise<OpenedSession>;
  /**
   * The same with authorization on: who may have the name is decided in the same transaction, which
   * consumes a join token, grants what that carries (WMD-3), and makes the worker's principal and its
   * credential (AUTH-50).
   */
  admit(
    session: Omit<NewSession, "credential_line">,
    admission: Admission,
  ): Promise<AdmittedSession>;
  /** The live session with this secret's hash; an ended one too, so that the caller can say why. */
  findBySecret(worker: string, token_hash: string): Promise<SessionRow | undefined>;
  /** One session, ended or not. */
  find(session_id: string): Promise<SessionRow | undefined>;
  /** Those that have not ended, by worker. */
  listLive(): Promise<readonly SessionRow[]>;
  /**
   * Gives a session's stream to a server: a new epoch begins, so that the server that held it
   * before can claim nothing more for it. Undefined when the session has ended.
   */
  connect(session_id: string, replica: string): Promise<SessionRow | undefined>;
  /** Notes that the stream has closed, unless it was taken over: false then. */
  disconnect(session_id: string, epoch: number): Promise<boolean>;
  /**
   * Gives a session up, unless somebody took its stream over meanwhile: undefined then. A new epoch
   * begins, which the answer holds; the server that gets the answer hands over what the session owns.
   */
  lose(session_id: string, epoch: number): Promise<SessionRow | undefined>;
  /** Does nothing to a session that has ended already: the first reason stays. */
  end(session_id: string, reason: "lost" | "disconnected"): Promise<void>;
  /** Deletes sessions that ended before an instant, except the newest of each worker; how many. */
  deleteEnded(before: number, limit: number): Promise<number>;
}

export const SESSIONS: Operations<SessionPort> = {
  open: writes(function* (fresh) {
    yield* lock(workerLock(fresh.worker));
    return yield* opening(fresh);
  }),

  admit: writes(function* (fresh, admission) {
    yield* lock(workerLock(fresh.worker));
    const admitted = yield* admitting(fresh.worker, admission);
    if (admitted.refused) return { refused: admitted.refused, opened: undefined };
    // Refuses by throwing, which undoes the admission, too: the token is not consumed.
    const { credential_line, services } = admitted;
    const opened = yield* opening({ ...fresh, credential_line });
    yield* changingAttributes(fresh.worker, withGrants(services));
    return { refused: undefined, opened };
  }),

  findBySecret: reads((worker, token_hash) =>
    found(sql`
      SELECT ${SESSION_COLUMNS} FROM sessions
      WHERE worker = ${worker} AND token_hash = ${token_hash}
      ORDER BY (ended_at IS NULL) DESC, created_at DESC LIMIT 1`),
  ),

  find: reads((session_id) =>
    found(sql`SELECT ${SESSION_COLUMNS} FROM sessions WHERE session_id = ${session_id}`),
  ),

  listLive: reads(function* () {
    const live = yield* rows(sql<StoredSession>`
      SELECT ${SESSION_COLUMNS} FROM sessions WHERE ended_at IS NULL ORDER BY worker`);
    return live.map(toSession);
  }),

  connect: writesOnce(function* (session_id, replica) {
    return yield* found(sql`
      UPDATE sessions SET replica = ${replica}, epoch = epoch + 1, connected_at = ${yield* now()},
        disconnected_at = NULL, lost_at = NULL
      WHERE session_id = ${session_id} AND ended_at IS NULL RETURNING ${SESSION_COLUMNS}`);
  }),

  disconnect: writesOnce(function* (session_id, epoch) {
    const at = yield* now();
    const disconnected = yield* count(sql`
      UPDATE sessions SET replica = NULL, disconnected_at = coalesce(disconnected_at, ${at})
      WHERE session_id = ${session_id} AND epoch = ${epoch} AND ended_at IS NULL`);
    return disconnected > 0;
  }),

  lose: writesOnce(function* (session_id, epoch) {
    return yield* found(sql`
      UPDATE sessions SET replica = NULL, epoch = epoch + 1, lost_at = ${yield* now()}
      WHERE session_id = ${session_id} AND epoch = ${epoch} AND lost_at IS NULL
        AND ended_at IS NULL RETURNING ${SESSION_COLUMNS}`);
  }),

  end: writesOnce(function* (session_id, reason) {
    yield* run(ended(session_id, reason, yield* now()));
  }),

  deleteEnded: writes(function* (before, limit) {
    const deleted = yield* rows(sql<{ session_id: string }>`
      DELETE FROM sessions WHERE session_id IN (
        SELECT session_id FROM sessions AS s
        WHERE ended_at IS NOT NULL AND ended_at < ${before} AND EXISTS (
          SELECT 1 FROM sessions AS n WHERE n.worker = s.worker AND (
            n.ended_at IS NULL OR (n.created_at, n.session_id) > (s.created_at, s.session_id)))
        ORDER BY ended_at LIMIT ${limit} ${skipLocked})
      RETURNING session_id`);
    const ids = deleted.map(({ session_id }) => session_id);
    yield* run(sql`DELETE FROM session_beats WHERE session_id ${anyOf(ids)}`);
    return ids.length;
  }),
};

/** Opens a session, under the lock of its worker's name. */
function* opening(fresh: NewSession): Operation<OpenedSession> {
  const { worker } = fresh;
  const [names, [live], takeovers] = yield* together<
    [unknown, StoredSession, { ended_at: number }]
  >(
    sql`SELECT 1 FROM workers WHERE name = ${worker}`,
    sql`SELECT ${SESSION_COLUMNS} FROM sessions WHERE worker = ${worker} AND ended_at IS NULL`,
    takeoversOf(worker),
  );
  const at = yield* now();
  const is_new_worker = names.length === 0;
  const earlier = live && toSession(live);
  if (earlier?.instance_id === fresh.instance_id) {
    const session = continueSession(earlier, fresh, at);
    const columns = { ...storedContinuation(session), last_seen_at: at };
    const { session_id } = session;
    yield* run(sql`UPDATE sessions SET ${assigned(columns)} WHERE session_id = ${session_id}`);
    return { session, is_new_worker, continued: true, superseded: undefined };
  }
  assertNotFoughtOver(worker, takeovers, at);
  // Before the insert: a name has one live session at most.
  if (earlier) yield* run(ended(earlier.session_id, "superseded", at));
  const session = beginSession(fresh, at);
  yield* run(
    // A name that was drained serves again with its next process; a paused one waits (WRK-11, 12).
    sql`INSERT INTO workers AS w (name, registered_at) VALUES (${worker}, ${at})
      ON CONFLICT (name) DO UPDATE SET desired_state = 'active' WHERE w.desired_state = 'draining'`,
    insertInto("sessions", storedSession(session)),
  );
  const superseded = earlier && supersededSession(earlier, at);
  return { session, is_new_worker, continued: false, superseded };
}

function* found(query: Sql<StoredSession>): Operation<SessionRow | undefined> {
  const session = yield* first(query);
  return session && toSession(session);
}

function ended(session_id: string, reason: string, at: number): Sql {
  return sql`UPDATE sessions SET ended_at = ${at}, end_reason = ${reason}, epoch = epoch + 1
    WHERE session_id = ${session_id} AND ended_at IS NULL`;
}
