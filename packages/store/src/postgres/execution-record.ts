/** How an execution's row lies in PostgreSQL: the columns of SQLite, each value whole in its row. */
import type { ExecutionRow } from "@engine/contract";
import {
  SUMMARY,
  SUMMARY_SQL,
  type SummaryRow,
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

/** As a label is compared: in any case, of any alphabet. */
export function folded(label: string): string {
  return label.toLowerCase();
}
