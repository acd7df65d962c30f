import type { ExecutionRow } from "@engine/contract";
import type { ExecutionFilter, Page } from "../store.ts";
import type { Bindable, Connection } from "./connection.ts";
import { SUMMARY_SQL, type SummaryRow, toSummary } from "./execution-record.ts";

/** A page of executions and the number of all that match. The order of ids is that of creation. */
export function listExecutions(
  connection: Connection,
  filter: ExecutionFilter,
): Page<ExecutionRow> {
  const { terms, values } = termsOf(filter);
  const where = terms.length ? `WHERE ${terms.join(" AND ")}` : "";
  const direction = filter.order === "created_asc" ? "ASC" : "DESC";
  // The texts differ by which filters are given, so there are few of them.
  const total = connection.prepareOnce<{ total: number }>(
    `SELECT count(*) AS total FROM executions ${where}`,
  );
  const rows = connection.prepareOnce<SummaryRow>(
    `SELECT ${SUMMARY_SQL} FROM executions ${where}
     ORDER BY execution_id ${direction} LIMIT ? OFFSET ?`,
    "raw",
  );
  return {
    items: rows.all(...values, filter.limit, filter.offset).map(toSummary),
    total: total.get(...values)?.total ?? 0,
  };
}

function termsOf(filter: ExecutionFilter): { terms: string[]; values: Bindable[] } {
  const terms: string[] = [];
  const values: Bindable[] = [];
  const add = (term: string, ...bound: Bindable[]) => {
    terms.push(term);
    values.push(...bound);
  };
  const { namespace, workflow, states, version, label, parent_id, root } = filter;
  if (namespace !== undefined) add("namespace = ?", namespace);
  if (workflow !== undefined) add("workflow = ?", workflow);
  if (version !== undefined) add("version = ?", version);
  if (states?.length) add("state IN (SELECT value FROM json_each(?))", JSON.stringify(states));
  // `starts_with_any_case` is ours: SQLite's own LIKE ignores case in ASCII only.
  if (label) add("name IS NOT NULL AND starts_with_any_case(name, ?)", label);
  // The first condition is that of the index, for SQLite to use it.
  if (parent_id !== undefined) add("parent_id IS NOT NULL AND parent_id = ?", parent_id);
  if (root) add("parent_id IS NULL");
  return { terms, values };
}

export function startsWithAnyCase(text: string, beginning: string): 0 | 1 {
  return text.toLowerCase().startsWith(beginning.toLowerCase()) ? 1 : 0;
}
