/** How both databases are asked for lists of executions, which come without their values. */
import type { ExecutionRow } from "@engine/contract";
import { type StoredRow, SUMMARY_SQL, toSummary } from "./execution-columns.ts";
import { folded } from "./folded.ts";
import { allOf, anyOf, type ByDialect, matching, raw, type Sql, sql } from "./operations/sql.ts";
import type { ExecutionFilter } from "./ports/executions.ts";
import type { Page } from "./ports/port.ts";
import { seen } from "./visible.ts";

/** The number of all that match, and a page of them. The order of ids is that of creation. */
export function listQueries(filter: ExecutionFilter): readonly [count: Sql, page: Sql] {
  const { order, behind, limit, offset } = filter;
  const [direction, beyond] = order === "created_asc" ? ["ASC", ">"] : ["DESC", "<"];
  const all = allOf(conditionsOf(filter));
  const rest = behind === undefined ? all : sql`${all} AND execution_id ${raw(beyond)} ${behind}`;
  return [
    sql`SELECT count(*) FROM executions WHERE ${all}`,
    sql`SELECT ${raw(SUMMARY_SQL)} FROM executions WHERE ${rest}
      ORDER BY execution_id ${raw(direction)} LIMIT ${limit} OFFSET ${offset}`,
  ];
}

/** @param answers Of both queries, their rows as arrays. */
export function toPage(answers: readonly (readonly StoredRow[])[]): Page<ExecutionRow> {
  const [counted, rows = []] = answers;
  return { items: rows.map(toSummary), total: counted?.[0]?.[0] ?? 0 };
}

export function openRuns(schedule: string, limit: number): Sql {
  return sql`SELECT ${raw(SUMMARY_SQL)} FROM executions
    WHERE schedule IS NOT NULL AND finished_at IS NULL AND schedule = ${schedule}
    ORDER BY execution_id DESC LIMIT ${limit}`;
}

function conditionsOf(filter: ExecutionFilter): readonly Sql[] {
  const { namespace, workflow, version, visible, states, label, parent_id, schedule, root } =
    filter;
  const conditions = [matching({ namespace, workflow, version }), seen(visible, "workflow")];
  if (states?.length) conditions.push(sql`state ${anyOf(states)}`);
  if (label) conditions.push(sql`${beginsWith(label)}`);
  // The first condition of these is that of the index, for SQLite to use it.
  if (parent_id !== undefined) {
    conditions.push(sql`parent_id IS NOT NULL AND parent_id = ${parent_id}`);
  }
  if (schedule !== undefined) conditions.push(sql`schedule IS NOT NULL AND schedule = ${schedule}`);
  const bounds = [
    ["created_at >", filter.created_after],
    ["created_at <", filter.created_before],
    ["finished_at >", filter.finished_after],
    ["finished_at <", filter.finished_before],
  ] as const;
  for (const [bound, at] of bounds) if (at !== undefined) conditions.push(sql`${raw(bound)} ${at}`);
  if (root) conditions.push(raw("parent_id IS NULL"));
  return conditions;
}

/** `starts_with_any_case` is a function of ours: SQLite's own LIKE ignores case in ASCII only. */
function beginsWith(label: string): ByDialect {
  return {
    sqlite: sql`name IS NOT NULL AND starts_with_any_case(name, ${label})`,
    postgres: sql`starts_with(name_folded, ${folded(label)})`,
  };
}
