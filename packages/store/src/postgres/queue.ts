import type {
  DueExecution,
  DuePage,
  OrphanedExecution,
  OwnedExecution,
  QueuedExecution,
  QueuePage,
  QueuePort,
} from "../ports/queue.ts";
import type { Database, Statement } from "./database.ts";

export class Queue implements QueuePort {
  readonly #database: Database;
  readonly #find: Statement;
  readonly #due: Statement;
  readonly #owned: Statement;
  readonly #orphaned: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#find = database.prepare(FIND_QUEUED_SQL);
    this.#due = database.prepare(LIST_DUE_SQL);
    this.#owned = database.prepare(LIST_OWNED_SQL);
    this.#orphaned = database.prepare(LIST_ORPHANED_SQL);
  }

  async list(page: QueuePage): Promise<readonly QueuedExecution[]> {
    const { limit, after, fromEnd } = page;
    const place = after ? [after.priority, after.queued_at, after.execution_id] : [];
    const statement = this.#database.prepare(listQueuedSql(page));
    const rows = await this.#database.read<QueuedExecution>(statement, limit, ...place);
    return fromEnd ? rows.reverse() : rows;
  }

  find(execution_ids: readonly string[]): Promise<readonly QueuedExecution[]> {
    return this.#database.read(this.#find, execution_ids);
  }

  listDue({ until, limit, after }: DuePage): Promise<readonly DueExecution[]> {
    const { wake_at = Number.MIN_SAFE_INTEGER, execution_id = "" } = after ?? {};
    return this.#database.read(this.#due, until, wake_at, execution_id, limit);
  }

  listOwned(session_id: string): Promise<readonly OwnedExecution[]> {
    return this.#database.read(this.#owned, session_id);
  }

  listOrphaned(limit: number): Promise<readonly OrphanedExecution[]> {
    return this.#database.read(this.#orphaned, limit);
  }
}

// The conditions are those of the partial indexes.
const QUEUE_COLUMNS = `execution_id, priority, queued_at, last_worker, requirements,
    losses, head`;
const QUEUED = `SELECT ${QUEUE_COLUMNS} FROM executions WHERE is_queued`;

export function listQueuedSql({ after, fromEnd }: QueuePage): string {
  const order = fromEnd
    ? "ORDER BY priority, queued_at DESC, execution_id DESC LIMIT $1"
    : "ORDER BY priority DESC, queued_at, execution_id LIMIT $1";
  if (!after) return `${QUEUED} ${order}`;
  // Two searches of the index, whose rows are merged: one could only skip what lies before.
  return `SELECT * FROM (
      (${QUEUED} AND priority = $2 AND (queued_at, execution_id) > ($3, $4) ${order})
      UNION ALL (${QUEUED} AND priority < $2 ${order})
    ) AS behind ${order}`;
}

// OFFSET 0 keeps the planner from reading all that wait, or the whole table in the order of ids,
// where it is to search for each id and each owner.
export const FIND_QUEUED_SQL: string = `
  SELECT ${QUEUE_COLUMNS} FROM (
    SELECT * FROM executions WHERE execution_id = ANY($1) OFFSET 0
  ) AS named WHERE is_queued ORDER BY execution_id`;

export const LIST_OWNED_SQL: string = `
  SELECT execution_id, generation, state, head, module_hash, updated_at, requirements, losses
  FROM executions WHERE session IS NOT NULL AND session = $1 ORDER BY execution_id`;

/** From owner to owner, so that it costs as many searches of the index as there are owners. */
export const LIST_ORPHANED_SQL: string = `
  WITH RECURSIVE owners (session) AS (
    SELECT min(session) FROM executions WHERE session IS NOT NULL
    UNION ALL
    SELECT (SELECT min(session) FROM executions
      WHERE session IS NOT NULL AND session > owners.session)
    FROM owners WHERE owners.session IS NOT NULL
  )
  SELECT owned.execution_id, owned.session, owned.generation FROM owners, LATERAL (
    SELECT execution_id, session, generation FROM executions
    WHERE session IS NOT NULL AND session = owners.session AND version IS NOT NULL OFFSET 0
  ) AS owned
  WHERE owners.session IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM sessions AS s
    WHERE s.session_id = owners.session AND s.ended_at IS NULL AND s.lost_at IS NULL)
  ORDER BY execution_id LIMIT $1`;

export const LIST_DUE_SQL: string = `
  SELECT execution_id, wake_at FROM executions
  WHERE wake_at IS NOT NULL AND version IS NOT NULL
    AND wake_at <= $1 AND (wake_at, execution_id) > ($2, $3)
  ORDER BY wake_at, execution_id LIMIT $4`;
