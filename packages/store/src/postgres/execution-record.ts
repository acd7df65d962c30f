/** How an execution's row lies in PostgreSQL: the columns of SQLite, each value whole in its row. */
import { type ExecutionRow, withLazyInput } from "@engine/contract";
import { fromText, type StoredRow, SUMMARY, SUMMARY_SQL, toRow } from "../execution-columns.ts";

/** An input longer than this is kept at hand, and parsed when it is looked at. */
export const MAX_SMALL_INPUT = 2_000;

const OUTPUT_AT = SUMMARY.length;
const INPUT_AT = OUTPUT_AT + 1;

/**
 * The columns of a whole row. An input never changes: one that the store still has is not sent again.
 *
 * @param known Parameter with the ids whose inputs are at hand.
 */
export function fullRowSql(known: string): string {
  return `${SUMMARY_SQL}, output,
    CASE WHEN execution_id = ANY(${known}) THEN NULL ELSE input END`;
}

/** @param known Inputs that were left out because they are at hand. */
export function toExecution(row: StoredRow, known: ReadonlyMap<string, string>): ExecutionRow {
  const input = inputText(row, known);
  const isLarge = input !== null && input.length > MAX_SMALL_INPUT;
  const execution = toRow(row, isLarge ? null : fromText(input), fromText(row[OUTPUT_AT]));
  return isLarge ? withLazyInput(execution, () => fromText(input)) : execution;
}

export function inputText(row: StoredRow, known: ReadonlyMap<string, string>): string | null {
  return row[INPUT_AT] ?? known.get(row[0]) ?? null;
}
