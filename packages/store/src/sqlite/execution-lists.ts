import type { ExecutionRow } from "@engine/contract";
import { SUMMARY_SQL, type SummaryRow, toSummary } from "../execution-columns.ts";
import type {
  DueExecution,
  DuePage,
  ExecutionFilter,
  OrphanedExecution,
  OwnedExecution,
  Page,
  QueuedExecution,
  QueuePage,
} from "../store.ts";
import { SEEN_IN_SQLITE, visibleJson, visibleSql } from "../visible.ts";
import type { Bindable, Connection, Statement } from "./connection.ts";
import type { ListReader } from "./list-query.ts";

/** Which executions there are, by what is asked of them. */
export class ExecutionLists {
  readonly #connection: Connection;
  readonly #lists: ListReader;
  readonly #queuedOf: Statement<QueuedExecution>;
  readonly #due: Statement<DueExecution>;
  readonly #owned: Statement<OwnedExecution>;
  readonly #openRuns: Statement<SummaryRow>;
  readonly #orphaned: Statement<OrphanedExecution>;

  constructor(connection: Connection, lists: ListReader) {
    this.#connection = connection;
    this.#lists = lists;
    this.#queuedOf = connection.prepare(FIND_QUEUED_SQL);
    this.#due = connection.prepare(LIST_DUE_SQL);
    this.#owned = connection.prepare(LIST_OWNED_SQL);
    this.#orphaned = connection.prepare(LIST_ORPHANED_SQL);
    this.#openRuns = connection.prepareRaw(LIST_OPEN_RUNS_SQL);
  }

  queued(page: QueuePage): Promise<readonly QueuedExecution[]> {
    const { limit, after, fromEnd } = page;
    const place = after ? [after.priority, after.queued_at, after.execution_id] : [];
    return this.#connection.read(() => {
      const statement = this.#connection.prepareOnce<QueuedExecution>(listQueuedSql(page));
      const rows = statement.all(...place, ...place.slice(0, 1), limit);
      return fromEnd ? rows.reverse() : rows;
    });
  }

  queuedOf(execution_ids: readonly string[]): Promise<readonly QueuedExecution[]> {
    return this.#connection.read(() => this.#queuedOf.all(JSON.stringify(execution_ids)));
  }

  due({ until, limit, after }: DuePage): Promise<readonly DueExecution[]> {
    const { wake_at = Number.MIN_SAFE_INTEGER, execution_id = "" } = after ?? {};
    return this.#connection.read(() => this.#due.all(until, wake_at, execution_id, limit));
  }

  owned(session_id: string): Promise<readonly OwnedExecution[]> {
    return this.#connection.read(() => this.#owned.all(session_id));
  }

  openRuns(schedule: string, limit: number): Promise<readonly ExecutionRow[]> {
    return this.#connection.read(() => this.#openRuns.all(schedule, limit).map(toSummary));
  }

  orphaned(limit: number): Promise<readonly OrphanedExecution[]> {
    return this.#connection.read(() => this.#orphaned.all(limit));
  }

  /** A page of executions and the number of all that match. The order of ids is that of creation. */
  async page(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    const { order, behind, limit, offset } = filter;
    const isAscending = order === "created_asc";
    const all = termsOf(filter);
    const rest: Term[] = behind === undefined ? all : [...all, behindTerm(behind, isAscending)];
    // The texts differ by which filters are given, so there are few of them.
    const [counted = [], rows = []] = await this.#lists.read([
      { sql: `SELECT count(*) FROM executions ${whereOf(all)}`, values: valuesOf(all) },
      {
        sql: `SELECT ${SUMMARY_SQL} FROM executions ${whereOf(rest)}
          ORDER BY execution_id ${isAscending ? "ASC" : "DESC"} LIMIT ? OFFSET ?`,
        values: [...valuesOf(rest), limit, offset],
      },
    ]);
    const [total = 0] = counted[0] ?? [];
    return { items: (rows as SummaryRow[]).map(toSummary), total: total as number };
  }
}

type Term = readonly [text: string, value?: Bindable];

function termsOf(filter: ExecutionFilter): Term[] {
  const terms: Term[] = [];
  const add = (text: string, value: Bindable | undefined) => {
    if (value !== undefined) terms.push([text, value]);
  };
  const { states, label, root } = filter;
  add("namespace = ?", filter.namespace);
  add("workflow = ?", filter.workflow);
  add(visibleSql(SEEN_IN_SQLITE, "workflow"), filter.visible && visibleJson(filter.visible));
  add("version = ?", filter.version);
  if (states?.length) add("state IN (SELECT value FROM json_each(?))", JSON.stringify(states));
  // `starts_with_any_case` is ours: SQLite's own LIKE ignores case in ASCII only.
  if (label) add("name IS NOT NULL AND starts_with_any_case(name, ?)", label);
  // The first condition of these is that of the index, for SQLite to use it.
  add("parent_id IS NOT NULL AND parent_id = ?", filter.parent_id);
  add("schedule IS NOT NULL AND schedule = ?", filter.schedule);
  add("created_at > ?", filter.created_after);
  add("created_at < ?", filter.created_before);
  add("finished_at > ?", filter.finished_after);
  add("finished_at < ?", filter.finished_before);
  if (root) terms.push(["parent_id IS NULL"]);
  return terms;
}

function behindTerm(execution_id: string, isAscending: boolean): Term {
  return [`execution_id ${isAscending ? ">" : "<"} ?`, execution_id];
}

function whereOf(terms: readonly Term[]): string {
  return terms.length > 0 ? `WHERE ${terms.map(([text]) => text).join(" AND ")}` : "";
}

function valuesOf(terms: readonly Term[]): Bindable[] {
  return terms.flatMap(([, value]) => (value === undefined ? [] : [value]));
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

export const LIST_OPEN_RUNS_SQL: string = `
  SELECT ${SUMMARY_SQL} FROM executions
  WHERE schedule IS NOT NULL AND finished_at IS NULL AND schedule = ?
  ORDER BY execution_id DESC LIMIT ?`;

export const LIST_DUE_SQL: string = `
  SELECT execution_id, wake_at FROM executions
  WHERE wake_at IS NOT NULL AND version IS NOT NULL
    AND wake_at <= ? AND (wake_at, execution_id) > (?, ?)
  ORDER BY wake_at, execution_id LIMIT ?`;
