import type { ExecutionRow } from "@engine/contract";
import { SUMMARY_SQL, toSummary } from "../execution-columns.ts";
import { rendered } from "../operations/sql.ts";
import type { ExecutionFilter } from "../ports/executions.ts";
import type { Page } from "../ports/port.ts";
import { seen } from "../visible.ts";
import type { Bindable } from "./connection.ts";
import type { ListReader } from "./list-query.ts";

/** A page of executions and the number of all that match. The order of ids is that of creation. */
export async function listExecutions(
  lists: ListReader,
  filter: ExecutionFilter,
): Promise<Page<ExecutionRow>> {
  const { order, behind, limit, offset } = filter;
  const isAscending = order === "created_asc";
  const all = termsOf(filter);
  const rest: Term[] = behind === undefined ? all : [...all, behindTerm(behind, isAscending)];
  // The texts differ by which filters are given, so there are few of them.
  const [counted = [], rows = []] = await lists.read([
    { sql: `SELECT count(*) FROM executions ${whereOf(all)}`, values: valuesOf(all) },
    {
      sql: `SELECT ${SUMMARY_SQL} FROM executions ${whereOf(rest)}
        ORDER BY execution_id ${isAscending ? "ASC" : "DESC"} LIMIT ? OFFSET ?`,
      values: [...valuesOf(rest), limit, offset],
    },
  ]);
  const [total = 0] = counted[0] ?? [];
  return { items: rows.map(toSummary), total: total as number };
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
  if (filter.visible) {
    const {
      text,
      values: [pairs],
    } = rendered(seen(filter.visible, "workflow"), "sqlite");
    add(text, pairs as string);
  }
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

export const LIST_OPEN_RUNS_SQL: string = `
  SELECT ${SUMMARY_SQL} FROM executions
  WHERE schedule IS NOT NULL AND finished_at IS NULL AND schedule = ?
  ORDER BY execution_id DESC LIMIT ?`;
