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
import { seenInPostgres, visibleJson, visibleSql } from "../visible.ts";
import type { Database, Parameter, Statement } from "./database.ts";
import { folded } from "./execution-record.ts";

/** Which executions there are, by what is asked of them. */
export class ExecutionLists {
  readonly #database: Database;
  readonly #queuedOf: Statement;
  readonly #due: Statement;
  readonly #owned: Statement;
  readonly #orphaned: Statement;
  readonly #openRuns: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#queuedOf = database.prepare(FIND_QUEUED_SQL);
    this.#due = database.prepare(LIST_DUE_SQL);
    this.#owned = database.prepare(LIST_OWNED_SQL);
    this.#orphaned = database.prepare(LIST_ORPHANED_SQL);
    this.#openRuns = database.prepare(LIST_OPEN_RUNS_SQL, "array");
  }

  async queued(page: QueuePage): Promise<readonly QueuedExecution[]> {
    const { limit, after, fromEnd } = page;
    const place = after ? [after.priority, after.queued_at, after.execution_id] : [];
    const statement = this.#database.prepare(listQueuedSql(page));
    const rows = await this.#database.read<QueuedExecution>(statement, limit, ...place);
    return fromEnd ? rows.reverse() : rows;
  }

  queuedOf(execution_ids: readonly string[]): Promise<readonly QueuedExecution[]> {
    return this.#database.read(this.#queuedOf, execution_ids);
  }

  due({ until, limit, after }: DuePage): Promise<readonly DueExecution[]> {
    const { wake_at = Number.MIN_SAFE_INTEGER, execution_id = "" } = after ?? {};
    return this.#database.read(this.#due, until, wake_at, execution_id, limit);
  }

  owned(session_id: string): Promise<readonly OwnedExecution[]> {
    return this.#database.read(this.#owned, session_id);
  }

  async openRuns(schedule: string, limit: number): Promise<readonly ExecutionRow[]> {
    const rows = await this.#database.read<SummaryRow>(this.#openRuns, schedule, limit);
    return rows.map(toSummary);
  }

  orphaned(limit: number): Promise<readonly OrphanedExecution[]> {
    return this.#database.read(this.#orphaned, limit);
  }

  /** A page of executions and the number of all that match. The order of ids is that of creation. */
  async page(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    const isAscending = filter.order === "created_asc";
    const { terms, values } = termsOf(filter);
    const count = `SELECT count(*) FROM executions ${whereOf(terms)}`;
    const valuesOfAll = [...values];
    const next = (value: Parameter) => `$${values.push(value)}`;
    if (filter.behind !== undefined) {
      terms.push(`execution_id ${isAscending ? ">" : "<"} ${next(filter.behind)}`);
    }
    const text = `SELECT ${SUMMARY_SQL} FROM executions ${whereOf(terms)}
      ORDER BY execution_id ${isAscending ? "ASC" : "DESC"}
      LIMIT ${next(filter.limit)} OFFSET ${next(filter.offset)}`;
    // Planned for the values of each call: which index serves depends on them.
    const [totals, rows] = (await this.#database.readAll<unknown>(
      [{ text: count, rowMode: "array" }, ...valuesOfAll],
      [{ text, rowMode: "array" }, ...values],
    )) as [[[number]], SummaryRow[]];
    return { items: rows.map(toSummary), total: totals[0][0] };
  }
}

function termsOf(filter: ExecutionFilter): { terms: string[]; values: Parameter[] } {
  const terms: string[] = [];
  const values: Parameter[] = [];
  const add = (value: Parameter | undefined, term: (parameter: string) => string) => {
    if (value !== undefined) terms.push(term(`$${values.push(value)}`));
  };
  const { states, label, root } = filter;
  add(filter.namespace, (it) => `namespace = ${it}`);
  add(filter.workflow, (it) => `workflow = ${it}`);
  add(filter.visible && visibleJson(filter.visible), (it) =>
    visibleSql(seenInPostgres(it), "workflow"),
  );
  add(filter.version, (it) => `version = ${it}`);
  if (states?.length) add(states, (it) => `state = ANY(${it})`);
  if (label) add(folded(label), (it) => `starts_with(name_folded, ${it})`);
  add(filter.parent_id, (it) => `parent_id = ${it}`);
  add(filter.schedule, (it) => `schedule = ${it}`);
  add(filter.created_after, (it) => `created_at > ${it}`);
  add(filter.created_before, (it) => `created_at < ${it}`);
  add(filter.finished_after, (it) => `finished_at > ${it}`);
  add(filter.finished_before, (it) => `finished_at < ${it}`);
  if (root) terms.push("parent_id IS NULL");
  return { terms, values };
}

function whereOf(terms: readonly string[]): string {
  return terms.length > 0 ? `WHERE ${terms.join(" AND ")}` : "";
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

export const LIST_OPEN_RUNS_SQL: string = `
  SELECT ${SUMMARY_SQL} FROM executions
  WHERE schedule IS NOT NULL AND finished_at IS NULL AND schedule = $1
  ORDER BY execution_id DESC LIMIT $2`;

export const LIST_DUE_SQL: string = `
  SELECT execution_id, wake_at FROM executions
  WHERE wake_at IS NOT NULL AND version IS NOT NULL
    AND wake_at <= $1 AND (wake_at, execution_id) > ($2, $3)
  ORDER BY wake_at, execution_id LIMIT $4`;
