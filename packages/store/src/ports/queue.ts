import type { State } from "@engine/contract";
import { type Operations, reads, rows } from "../operations/operation.ts";
import { anyOf, type ByDialect, raw, type Sql, sql } from "../operations/sql.ts";

/** An execution that waits for a worker: what the dispatcher's queue keeps in memory. */
export interface QueuedExecution {
  readonly execution_id: string;
  readonly priority: number;
  readonly queued_at: number;
  readonly last_worker: string | null;
  /** What its worker must have, as JSON text: equal texts are equal needs. Null = anybody. */
  readonly requirements: string | null;
  /** How workers lost it, as JSON text; null = none did (LIV-5). */
  readonly losses: string | null;
  /** Of its log: what says otherwise of it and knows less of the log is older. */
  readonly head: number;
  /** 0: no worker has had it, and `last_worker` is only where it had better go. */
  readonly generation: number;
  readonly state: State;
  /** Whose rights it has, and for what. */
  readonly run_as: string | null;
  readonly namespace: string;
  readonly workflow: string;
}

/** A part of the queue, in dispatch order. */
export interface QueuePage {
  readonly limit: number;
  /** Those behind this place. */
  readonly after?: Pick<QueuedExecution, "execution_id" | "priority" | "queued_at"> | undefined;
  /** The last ones of the queue rather than the first. */
  readonly fromEnd?: boolean;
}

/** An execution with something that is due at an instant. */
export interface DueExecution {
  readonly execution_id: string;
  readonly wake_at: number;
}

export interface DuePage {
  /** The latest instant to be listed. */
  readonly until: number;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: DueExecution | undefined;
}

/** An execution whose owner's session has ended, was lost, or does not exist. */
export interface OrphanedExecution {
  readonly execution_id: string;
  readonly session: string;
  readonly generation: number;
}

/** What an owner has: with its generation, state and head. */
export interface OwnedExecution {
  readonly execution_id: string;
  readonly generation: number;
  readonly state: State;
  readonly head: number;
  readonly module_hash: string | null;
  /** When it was claimed or changed last. */
  readonly updated_at: number;
  readonly requirements: string | null;
  /** How workers lost it before, as JSON text; null = none did. */
  readonly losses: string | null;
  /** Whose rights it has, and for what. */
  readonly run_as: string | null;
  readonly namespace: string;
  readonly workflow: string;
}

/** Executions that a server has to see to: they wait for a worker or for an instant, or belong to one. */
export interface QueuePort {
  /** Executions `isQueued` holds for, in dispatch order: priority descending, queue time, id. */
  list(page: QueuePage): Promise<readonly QueuedExecution[]>;
  /** Those of the named executions that wait for a worker now. */
  find(execution_ids: readonly string[]): Promise<readonly QueuedExecution[]>;
  /** Executions that a server has to wake, in order of `wake_at` and id. */
  listDue(page: DuePage): Promise<readonly DueExecution[]>;
  /** What a session owns, by id. */
  listOwned(session_id: string): Promise<readonly OwnedExecution[]>;
  /** Executions that belong to nobody who could run them, by id. */
  listOrphaned(limit: number): Promise<readonly OrphanedExecution[]>;
}

export const QUEUE: Operations<QueuePort> = {
  list: reads(function* (page) {
    const found = yield* rows(queued(page));
    return page.fromEnd ? found.toReversed() : found;
  }),
  find: reads((execution_ids) => rows(queuedAmong(execution_ids))),
  listDue: reads((page) => rows(due(page))),
  listOwned: reads((session_id) => rows(owned(session_id))),
  listOrphaned: reads((limit) => rows(orphaned(limit))),
};

const QUEUED_COLUMNS = raw(
  "execution_id, priority, queued_at, last_worker, requirements, losses, head, generation, state, run_as, namespace, workflow",
);

/** SQLite wants the conditions of the partial index word for word; PostgreSQL has a column of them. */
const IS_QUEUED: ByDialect = {
  sqlite: raw(`session IS NULL AND version IS NOT NULL AND not_before IS NULL
    AND (state = 'CREATED' OR state = 'RESUMING' OR state = 'CANCELLING')`),
  postgres: raw("is_queued"),
};

const QUEUED = sql`SELECT ${QUEUED_COLUMNS} FROM executions WHERE ${IS_QUEUED}`;

export function queued({ limit, after, fromEnd }: QueuePage): Sql<QueuedExecution> {
  const order = fromEnd
    ? "priority, queued_at DESC, execution_id DESC"
    : "priority DESC, queued_at, execution_id";
  const some = sql`ORDER BY ${raw(order)} LIMIT ${limit}`;
  if (!after) return sql`${QUEUED} ${some}`;
  const { priority, queued_at, execution_id } = after;
  // Two searches of the index, whose rows are merged: one could only skip what lies before.
  const alike = sql`${QUEUED} AND priority = ${priority}
    AND (queued_at, execution_id) > (${queued_at}, ${execution_id})`;
  const less = sql`${QUEUED} AND priority < ${priority}`;
  return sql`${{
    sqlite: sql`${alike} UNION ALL ${less} ${some}`,
    postgres: sql`SELECT ${QUEUED_COLUMNS} FROM (
      (${alike} ${some}) UNION ALL (${less} ${some})) AS behind ${some}`,
  }}`;
}

// OFFSET 0 keeps PostgreSQL's planner from reading all that wait, or the whole table in the order of
// ids, where it is to search for each id and each owner.
export function queuedAmong(execution_ids: readonly string[]): Sql<QueuedExecution> {
  const named = sql`execution_id ${anyOf(execution_ids)}`;
  return sql`${{
    sqlite: sql`${QUEUED} AND ${named}`,
    postgres: sql`SELECT ${QUEUED_COLUMNS} FROM (
      SELECT * FROM executions WHERE ${named} OFFSET 0) AS named WHERE is_queued`,
  }} ORDER BY execution_id`;
}

export function owned(session_id: string): Sql<OwnedExecution> {
  return sql`
    SELECT execution_id, generation, state, head, module_hash, updated_at, requirements, losses,
      run_as, namespace, workflow
    FROM executions WHERE session IS NOT NULL AND session = ${session_id} ORDER BY execution_id`;
}

/** From owner to owner, so that it costs as many searches of the index as there are owners. */
export function orphaned(limit: number): Sql<OrphanedExecution> {
  return sql`
    WITH RECURSIVE owners (session) AS (
      SELECT min(session) FROM executions WHERE session IS NOT NULL
      UNION ALL
      SELECT (SELECT min(session) FROM executions
        WHERE session IS NOT NULL AND session > owners.session)
      FROM owners WHERE owners.session IS NOT NULL
    )
    SELECT owned.execution_id, owned.session, owned.generation FROM owners ${THEIR_EXECUTIONS}
    WHERE owners.session IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM sessions AS s
      WHERE s.session_id = owners.session AND s.ended_at IS NULL AND s.lost_at IS NULL)
    ORDER BY owned.execution_id LIMIT ${limit}`;
}

const THEIR_EXECUTIONS: ByDialect = {
  sqlite: raw(`CROSS JOIN executions AS owned
    ON owned.session IS NOT NULL AND owned.session = owners.session AND owned.version IS NOT NULL`),
  postgres: raw(`CROSS JOIN LATERAL (
    SELECT execution_id, session, generation FROM executions
    WHERE session IS NOT NULL AND session = owners.session AND version IS NOT NULL OFFSET 0
  ) AS owned`),
};

export function due({ until, limit, after }: DuePage): Sql<DueExecution> {
  const { wake_at = Number.MIN_SAFE_INTEGER, execution_id = "" } = after ?? {};
  return sql`
    SELECT execution_id, wake_at FROM executions
    WHERE wake_at IS NOT NULL AND version IS NOT NULL
      AND wake_at <= ${until} AND (wake_at, execution_id) > (${wake_at}, ${execution_id})
    ORDER BY wake_at, execution_id LIMIT ${limit}`;
}
