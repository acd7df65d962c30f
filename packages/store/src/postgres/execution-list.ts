import type { ExecutionRow } from "@engine/contract";
import { type StoredRow, SUMMARY_SQL, toSummary } from "../execution-columns.ts";
import { rendered } from "../operations/sql.ts";
import type { ExecutionFilter } from "../ports/executions.ts";
import type { Page } from "../ports/port.ts";
import { seen } from "../visible.ts";
import type { Database, Parameter } from "./database.ts";
import { folded } from "./execution-record.ts";

/** A page of executions and the number of all that match. The order of ids is that of creation. */
export async function listExecutions(
  database: Database,
  filter: ExecutionFilter,
): Promise<Page<ExecutionRow>> {
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
  const [totals, rows] = (await database.readAll<unknown>(
    [{ text: count, rowMode: "array" }, ...valuesOfAll],
    [{ text, rowMode: "array" }, ...values],
  )) as [[[number]], StoredRow[]];
  return { items: rows.map(toSummary), total: totals[0][0] };
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
  if (filter.visible) {
    const {
      text,
      values: [pairs],
    } = rendered(seen(filter.visible, "workflow"), "postgres");
    add(pairs, (it) => text.replace("$1", () => it));
  }
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

export const LIST_OPEN_RUNS_SQL: string = `
  SELECT ${SUMMARY_SQL} FROM executions
  WHERE schedule IS NOT NULL AND finished_at IS NULL AND schedule = $1
  ORDER BY execution_id DESC LIMIT $2`;
