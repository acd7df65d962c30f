/** How a worker is read: its name's row with its newest session, and what that owns. */
import { type StoredSession, sessionSql, toSession } from "./session-record.ts";
import type { WorkerRow } from "./store.ts";

export type StoredWorker = StoredSession & Omit<WorkerRow, "session">;

/** The live session of a name, else the one that began last. */
export const NEWEST_FIRST = "(ended_at IS NULL) DESC, created_at DESC, session_id DESC";

export function workerSql(): string {
  return `SELECT w.name, w.desired_state, w.registered_at, ${sessionSql()}, (
      SELECT count(*) FROM executions AS e
      WHERE e.session IS NOT NULL AND e.session = sessions.session_id
    ) AS load
    FROM workers AS w LEFT JOIN sessions ON session_id = (
      SELECT n.session_id FROM sessions AS n WHERE n.worker = w.name
      ORDER BY ${NEWEST_FIRST} LIMIT 1
    )`;
}

export function toWorker(row: StoredWorker): WorkerRow {
  const { name, desired_state, registered_at, load, ...session } = row;
  const isKnown = session.session_id !== null;
  return { name, desired_state, registered_at, session: isKnown ? toSession(session) : null, load };
}
