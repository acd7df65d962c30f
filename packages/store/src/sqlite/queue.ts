import type {
  DueExecution,
  DuePage,
  OrphanedExecution,
  OwnedExecution,
  QueuedExecution,
  QueuePage,
  QueuePort,
} from "../ports/queue.ts";
import type { Connection, Statement } from "./connection.ts";

export class Queue implements QueuePort {
  readonly #connection: Connection;
  readonly #find: Statement<QueuedExecution>;
  readonly #due: Statement<DueExecution>;
  readonly #owned: Statement<OwnedExecution>;
  readonly #orphaned: Statement<OrphanedExecution>;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#find = connection.prepare(FIND_QUEUED_SQL);
    this.#due = connection.prepare(LIST_DUE_SQL);
    this.#owned = connection.prepare(LIST_OWNED_SQL);
    this.#orphaned = connection.prepare(LIST_ORPHANED_SQL);
  }

  list(page: QueuePage): Promise<readonly QueuedExecution[]> {
    const { limit, after, fromEnd } = page;
    const place = after ? [after.priority, after.queued_at, after.execution_id] : [];
    return this.#connection.read(() => {
      const statement = this.#connection.prepareOnce<QueuedExecution>(listQueuedSql(page));
      const rows = statement.all(...place, ...place.slice(0, 1), limit);
      return fromEnd ? rows.reverse() : rows;
    });
  }

  find(execution_ids: readonly string[]): Promise<readonly QueuedExecution[]> {
    return this.#connection.read(() => this.#find.all(JSON.stringify(execution_ids)));
  }

  listDue({ until, limit, after }: DuePage): Promise<readonly DueExecution[]> {
    const { wake_at = Number.MIN_SAFE_INTEGER, execution_id = "" } = after ?? {};
    return this.#connection.read(() => this.#due.all(until, wake_at, execution_id, limit));
  }

  listOwned(session_id: string): Promise<readonly OwnedExecution[]> {
    return this.#connection.read(() => this.#owned.all(session_id));
  }

  listOrphaned(limit: number): Promise<readonly OrphanedExecution[]> {
    return this.#connection.read(() => this.#orphaned.all(limit));
  }
}

// The conditions are those of the partial indexes, word for word.
const QUEUED = `
  SELECT execution_id, priority, queued_at, last_worker, requirements,
    losses, head
  FROM executions WHERE session IS NULL AND version IS NOT NULL AND not_before IS NULL
    AND state IN ('CREATED', 'RESUMING', 'CANCELLING')`;

export function listQueuedSql({ after, fromEnd }: QueuePage): string {
  const order = fromEnd
    ? "priority, queued_at DESC, execution_id DESC"
    : "priority DESC, queued_at, execution_id";
  if (!after) return `${QUEUED} ORDER BY ${order} LIMIT ?`;
  // Two searches of the index, whose rows are merged: one could only skip what lies before.
  return `${QUEUED} AND priority = ? AND (queued_at, execution_id) > (?, ?)
    UNION ALL ${QUEUED} AND priority < ? ORDER BY ${order} LIMIT ?`;
}

export const FIND_QUEUED_SQL: string = `
  ${QUEUED} AND execution_id IN (SELECT value FROM json_each(?)) ORDER BY execution_id`;

export const LIST_OWNED_SQL: string = `
  SELECT execution_id, generation, state, head, module_hash, updated_at, requirements, losses
  FROM executions WHERE session IS NOT NULL AND session = ? ORDER BY execution_id`;

/** From owner to owner, so that it costs as many searches of the index as there are owners. */
export const LIST_ORPHANED_SQL: string = `
  WITH RECURSIVE owners (session) AS (
    SELECT min(session) FROM executions WHERE session IS NOT NULL
    UNION ALL
    SELECT (SELECT min(session) FROM executions
      WHERE session IS NOT NULL AND session > owners.session)
    FROM owners WHERE owners.session IS NOT NULL
  )
  SELECT e.execution_id, e.session, e.generation FROM owners CROSS JOIN executions AS e
  WHERE e.session IS NOT NULL AND e.session = owners.session AND e.version IS NOT NULL
    AND NOT EXISTS (
      SELECT 1 FROM sessions AS s
      WHERE s.session_id = owners.session AND s.ended_at IS NULL AND s.lost_at IS NULL)
  ORDER BY e.execution_id LIMIT ?`;

export const LIST_DUE_SQL: string = `
  SELECT execution_id, wake_at FROM executions
  WHERE wake_at IS NOT NULL AND version IS NOT NULL
    AND wake_at <= ? AND (wake_at, execution_id) > (?, ?)
  ORDER BY wake_at, execution_id LIMIT ?`;
