import type { ExecutionRow } from "@engine/contract";
import { SUMMARY_SQL, type SummaryRow, toSummary } from "../sqlite/execution-record.ts";
import type {
  DueExecution,
  DuePage,
  ExecutionFilter,
  Page,
  QueuedExecution,
  Store,
} from "../store.ts";
import type { Database, Parameter, Statement } from "./database.ts";
import { folded } from "./execution-record.ts";

// The conditions are those of the partial indexes.
export const LIST_QUEUED_SQL: string = `
  SELECT execution_id, priority, queued_at, last_worker FROM executions
  WHERE session IS NULL AND version IS NOT NULL AND state IN ('CREATED', 'RESUMING', 'CANCELLING')
  ORDER BY priority DESC, queued_at, execution_id LIMIT $1`;

export const LIST_OWNED_SQL: string = `
  SELECT execution_id, generation, state, head FROM executions
  WHERE session IS NOT NULL AND session = $1 ORDER BY execution_id`;

export const LIST_DUE_SQL: string = `
  SELECT execution_id, wake_at FROM executions
  WHERE wake_at IS NOT NULL AND version IS NOT NULL
    AND wake_at <= $1 AND (wake_at, execution_id) > ($2, $3)
  ORDER BY wake_at, execution_id LIMIT $4`;

/** Which executions there are, by what is asked of them. */
export class ExecutionLists {
  readonly #database: Database;
  readonly #queued: Statement;
  readonly #owned: Statement;
  readonly #due: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#queued = database.prepare(LIST_QUEUED_SQL);
    this.#owned = database.prepare(LIST_OWNED_SQL);
    this.#due = database.prepare(LIST_DUE_SQL);
  }

  queued(limit: number): Promise<readonly QueuedExecution[]> {
    return this.#database.read(this.#queued, limit);
  }

  owned(session_id: string): ReturnType<Store["listOwned"]> {
    return this.#database.read(this.#owned, session_id);
  }

  due({ until, limit, after }: DuePage): Promise<readonly DueExecution[]> {
    const { wake_at = Number.MIN_SAFE_INTEGER, execution_id = "" } = after ?? {};
    return this.#database.read(this.#due, until, wake_at, execution_id, limit);
  }

  /** A page of executions and the number of all that match. The order of ids is that of creation. */
  async page(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    const { terms, values } = termsOf(filter);
    const where = terms.length ? `WHERE ${terms.join(" AND ")}` : "";
    const direction = filter.order === "created_asc" ? "ASC" : "DESC";
    // Planned for the values of each call: which index serves depends on them.
    const count = { text: `SELECT count(*) FROM executions ${where}`, rowMode: "array" } as const;
    const text = `SELECT ${SUMMARY_SQL} FROM executions ${where} ORDER BY execution_id ${direction}
      LIMIT $${values.length + 1} OFFSET $${values.length + 2}`;
    const [totals, rows] = (await this.#database.readAll<unknown>(
      [count, ...values],
      [{ text, rowMode: "array" }, ...values, filter.limit, filter.offset],
    )) as [[[number]], SummaryRow[]];
    return { items: rows.map(toSummary), total: totals[0][0] };
  }
}

function termsOf(filter: ExecutionFilter): { terms: string[]; values: Parameter[] } {
  const terms: string[] = [];
  const values: Parameter[] = [];
  const add = (term: (parameter: string) => string, value: Parameter) => {
    values.push(value);
    terms.push(term(`$${values.length}`));
  };
  const { namespace, workflow, states, version, label, parent_id, root } = filter;
  if (namespace !== undefined) add((it) => `namespace = ${it}`, namespace);
  if (workflow !== undefined) add((it) => `workflow = ${it}`, workflow);
  if (version !== undefined) add((it) => `version = ${it}`, version);
  if (states?.length) add((it) => `state = ANY(${it})`, states);
  if (label) add((it) => `starts_with(name_folded, ${it})`, folded(label));
  if (parent_id !== undefined) add((it) => `parent_id = ${it}`, parent_id);
  if (root) terms.push("parent_id IS NULL");
  return { terms, values };
}
