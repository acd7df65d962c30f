/** How an execution's row lies in SQLite: its values are the last columns, a large input lies apart. */
import { type ExecutionPatch, type ExecutionRow, PATCHABLE, withLazyInput } from "@engine/contract";
import {
  columnsIn,
  fromText,
  type StoredRow,
  SUMMARY,
  storedValue,
  toRow,
  toText,
} from "../execution-columns.ts";
import type { Bindable } from "./connection.ts";

/** An input longer than this lies apart from its row, which every change writes anew. */
const MAX_INPUT_IN_ROW = 2_000;

const COLUMNS = [...SUMMARY, "input_apart", "input", "output"] as const;
const APART_AT = SUMMARY.length;

export const COLUMNS_SQL: string = COLUMNS.join(", ");
export const INSERT_SQL: string = `INSERT INTO executions (${COLUMNS_SQL})
  VALUES (${COLUMNS.map(() => "?").join(", ")})`;

/** The whole row. `readInput` is only called for an input that lies apart, when it is looked at. */
export function toExecution(
  row: StoredRow,
  readInput: (execution_id: string) => string,
): ExecutionRow {
  const [isApart, input, output] = [row[APART_AT], row[APART_AT + 1], row[APART_AT + 2]];
  const execution = toRow(row, fromText(input), fromText(output));
  return isApart ? withLazyInput(execution, () => fromText(readInput(row[0]))) : execution;
}

/** What to insert, with the input that goes apart. */
export function toInsert(row: ExecutionRow): {
  values: Bindable[];
  inputApart: string | undefined;
} {
  const input = toText(row.input);
  const inputApart = input !== null && input.length > MAX_INPUT_IN_ROW ? input : undefined;
  const values = COLUMNS.map((column) => {
    if (column === "input_apart") return inputApart === undefined ? 0 : 1;
    if (column === "input") return inputApart === undefined ? input : null;
    return storedValue(row, column);
  });
  return { values, inputApart };
}

export interface Assignments {
  /** One bit for each column that is assigned: the same set is the same statement. */
  readonly mask: number;
  readonly values: Bindable[];
}

/**
 * What an update has to set. Columns that keep their value are left out: an index is only touched
 * when one of its columns is assigned. (Values are compared by identity, so an equal copy of `waits`
 * is written needlessly, never missed.)
 */
export function assignmentsOf(row: ExecutionRow, patch: ExecutionPatch): Assignments {
  let mask = 0;
  const values: Bindable[] = [];
  for (let i = 0; i < PATCHABLE.length; i++) {
    const column = PATCHABLE[i] as keyof ExecutionPatch;
    const value = patch[column];
    if (value === undefined || value === row[column]) continue;
    mask |= 1 << i;
    values.push(storedValue(patch, column));
  }
  return { mask, values };
}

export function updateSql(mask: number): string {
  const assignments = columnsIn(mask).map((column) => `${column} = ?`);
  return `UPDATE executions SET ${assignments.join(", ")} WHERE execution_id = ?`;
}
