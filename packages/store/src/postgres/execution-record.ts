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
  return `INSERT INTO executions (${columns}) SELECT ${columns} FROM ${recordset(INSERTED, types)}
    RETURNING execution_id, xmin::text`;
}

/**
 * Inserts fresh executions with their events, each only while the session that is to have it is as
 * thought (`guardOf`). One statement, one commit.
 */
export function insertGuardedSql(types: ColumnTypes): string {
  const typed = INSERTED.map((column) => `${column} ${types.get(column)}`).join(", ");
  return `
    WITH guarded AS (
      SELECT s.session_id, s.epoch FROM sessions AS s JOIN workers AS w ON w.name = s.worker
      WHERE s.session_id = ANY($3) AND s.ended_at IS NULL AND w.desired_state = 'active'
      ORDER BY s.session_id FOR SHARE OF s, w
    ), written AS (
      INSERT INTO executions (${INSERTED.join(", ")})
      SELECT ${INSERTED.map((column) => `r.${column}`).join(", ")}
      FROM json_to_recordset($1::json) AS r(${typed}, guard_epoch integer)
      JOIN guarded ON guarded.session_id = r.session AND guarded.epoch = r.guard_epoch
      RETURNING execution_id, xmin::text
    ), logged AS (
      ${INSERT_WRITTEN_SEGMENTS}
    )
    SELECT * FROM written`;
}

/** The log of what a statement has written. */
const INSERT_WRITTEN_SEGMENTS = `
  INSERT INTO segments (execution_id, seq, last_seq, recorded_at, events)
  SELECT s.execution_id, s.seq, s.last_seq, s.recorded_at, s.events
  FROM json_to_recordset($2::json)
    AS s(execution_id text, seq integer, last_seq integer, recorded_at bigint, events text)
  JOIN written ON written.execution_id = s.execution_id`;

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
    FROM ${recordset(["execution_id", ...columns], types)} WHERE e.execution_id = r.execution_id
    RETURNING e.execution_id, e.xmin::text`;
}

/**
 * The same for rows that nobody has changed since they were written by a known transaction, with
 * their events: what another server was faster with stays as it is. One statement, one commit.
 */
export function updateKnownSql(mask: number, types: ColumnTypes): string {
  const columns = columnsOf(mask);
  const assignments = columns.map((column) => `${column} = r.${column}`).join(", ");
  const typed = ["execution_id", ...columns].map((column) => `${column} ${types.get(column)}`);
  return `
    WITH written AS (
      UPDATE executions AS e SET ${assignments}
      FROM json_to_recordset($1::json) AS r(${typed.join(", ")}, written_by text)
      WHERE e.execution_id = r.execution_id AND e.xmin = r.written_by::xid
      RETURNING e.execution_id, e.xmin::text
    ), logged AS (
      ${INSERT_WRITTEN_SEGMENTS}
    )
    SELECT * FROM written`;
}

export function updatedRow(row: ExecutionRow, mask: number): object {
  const record: Record<string, unknown> = { execution_id: row.execution_id };
  for (const column of columnsOf(mask)) record[column] = storedValue(row, column);
  if (mask & NAME) record["name_folded"] = foldedName(row);
  return record;
}
