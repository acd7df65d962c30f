/** How an execution's row lies in PostgreSQL: the columns of SQLite, each value whole in its row. */
import type { ExecutionPatch, ExecutionRow } from "@engine/contract";
import {
  PATCHABLE,
  SUMMARY,
  SUMMARY_SQL,
  type SummaryRow,
  storedValue,
  toSummary,
  withLazyInput,
} from "../execution-columns.ts";

/** An input longer than this is kept at hand, and parsed when it is looked at. */
export const MAX_SMALL_INPUT = 2_000;

/** Stored values behind the columns of a listing. `has_input` tells an input that was left out. */
export type FullRow = readonly [
  ...SummaryRow,
  output: string | null,
  has_input: boolean,
  input: string | null,
];

const OUTPUT_AT = SUMMARY.length;

/**
 * The columns of a whole row. An input never changes: one that the store still has is not sent again.
 *
 * @param known Parameter with the ids whose inputs are at hand.
 */
export function fullRowSql(known: string): string {
  return `${SUMMARY_SQL}, output, input IS NOT NULL,
    CASE WHEN execution_id = ANY(${known}) THEN NULL ELSE input END`;
}

/** @param known Inputs that were left out because they are at hand. */
export function toExecution(row: FullRow, known: ReadonlyMap<string, string>): ExecutionRow {
  const output = row[OUTPUT_AT] as string | null;
  const text = row[OUTPUT_AT + 1] ? inputText(row, known) : null;
  const execution = Object.assign(toSummary(row), {
    ...(output !== null && { output: JSON.parse(output) }),
  });
  if (text === null) return execution;
  return text.length > MAX_SMALL_INPUT
    ? withLazyInput(execution, () => JSON.parse(text))
    : Object.assign(execution, { input: JSON.parse(text) });
}

export function inputText(row: FullRow, known: ReadonlyMap<string, string>): string | null {
  return (row[OUTPUT_AT + 2] as string | null) ?? known.get(row[0]) ?? null;
}

/** The type of each column of `executions`, as the database names it. */
export type ColumnTypes = ReadonlyMap<string, string>;

/** One parameter of JSON holds all rows: measured, that is less work here than an array per column. */
function recordset(columns: readonly string[], types: ColumnTypes): string {
  const typed = columns.map((column) => `${column} ${types.get(column)}`).join(", ");
  return `json_to_recordset($1::json) AS r(${typed})`;
}

const INSERTED = [...SUMMARY, "name_folded", "input", "output"] as const;

export function insertRowsSql(types: ColumnTypes): string {
  const columns = INSERTED.join(", ");
  return `INSERT INTO executions (${columns}) SELECT ${columns} FROM ${recordset(INSERTED, types)}`;
}

export function insertedRow(row: ExecutionRow): Readonly<Record<string, unknown>> {
  const record: Record<string, unknown> = { name_folded: foldedName(row) };
  for (const column of SUMMARY) record[column] = storedValue(row, column);
  record["input"] = storedValue(row, "input");
  record["output"] = storedValue(row, "output");
  return record;
}

function foldedName({ name }: ExecutionRow): string | null {
  return name === null ? null : folded(name);
}

/** As a label is compared: in any case, of any alphabet. */
export function folded(label: string): string {
  return label.toLowerCase();
}

/** Set in every update, so that most updates are the same statement. */
const ALWAYS = maskOf(["state", "head", "last_time", "updated_at"]);

/** One bit for each column that differs; 0 when the row stays as it is. */
export function changedColumns(stored: ExecutionRow, row: ExecutionRow): number {
  let mask = 0;
  for (let i = 0; i < PATCHABLE.length; i++) {
    const column = PATCHABLE[i] as (typeof PATCHABLE)[number];
    // Values are compared by identity: an equal copy of `waits` is written needlessly, never missed.
    if (stored[column] !== row[column]) mask |= 1 << i;
  }
  return mask === 0 ? 0 : mask | ALWAYS;
}

function columnsOf(mask: number): readonly (typeof PATCHABLE)[number][] {
  return PATCHABLE.filter((_, i) => mask & (1 << i));
}

function maskOf(columns: readonly (keyof ExecutionPatch)[]): number {
  return PATCHABLE.reduce((mask, column, i) => mask | (columns.includes(column) ? 1 << i : 0), 0);
}

const NAME = maskOf(["name"]);

/** One statement for all rows, which sets every column that differs in any of them. */
export function updateRowsSql(mask: number, types: ColumnTypes): string {
  const columns = [...columnsOf(mask), ...(mask & NAME ? ["name_folded"] : [])];
  const assignments = columns.map((column) => `${column} = r.${column}`).join(", ");
  return `UPDATE executions AS e SET ${assignments}
    FROM ${recordset(["execution_id", ...columns], types)} WHERE e.execution_id = r.execution_id`;
}

export function updatedRow(row: ExecutionRow, mask: number): object {
  const record: Record<string, unknown> = { execution_id: row.execution_id };
  for (const column of columnsOf(mask)) record[column] = storedValue(row, column);
  if (mask & NAME) record["name_folded"] = foldedName(row);
  return record;
}
