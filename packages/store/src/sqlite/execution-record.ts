/** How an execution's row lies in the table: instants as they are, values as JSON text. */
import type { ExecutionPatch, ExecutionRow } from "@engine/contract";
import type { Bindable } from "./connection.ts";

/** An input longer than this lies apart from its row, which every change writes anew. */
const MAX_INPUT_IN_ROW = 2_000;

/** The columns of a listing, in the order of {@link Row}. */
const SUMMARY = [
  "execution_id",
  "namespace",
  "workflow",
  "version",
  "module_hash",
  "name",
  "state",
  "failure",
  "worker",
  "session",
  "last_worker",
  "last_session",
  "generation",
  "head",
  "last_time",
  "resuming",
  "waits",
  "priority",
  "queued_at",
  "parent_id",
  "parent_call_id",
  "created_at",
  "started_at",
  "finished_at",
  "updated_at",
] as const;
const COLUMNS = [...SUMMARY, "input_apart", "input", "output"] as const;

export const SUMMARY_SQL: string = SUMMARY.join(", ");
export const COLUMNS_SQL: string = COLUMNS.join(", ");
export const INSERT_SQL: string = `INSERT INTO executions (${COLUMNS_SQL})
  VALUES (${COLUMNS.map(() => "?").join(", ")})`;

/** A stored row as an array: cheaper to read than an object, once per change. */
type Text = string;
export type SummaryRow = readonly [
  execution_id: Text,
  namespace: Text,
  workflow: Text,
  version: number | null,
  module_hash: Text | null,
  name: Text | null,
  state: ExecutionRow["state"],
  failure: Text | null,
  worker: Text | null,
  session: Text | null,
  last_worker: Text | null,
  last_session: Text | null,
  generation: number,
  head: number,
  last_time: number,
  resuming: number,
  waits: Text | null,
  priority: number,
  queued_at: number,
  parent_id: Text | null,
  parent_call_id: Text | null,
  created_at: number,
  started_at: number | null,
  finished_at: number | null,
  updated_at: number,
];
export type FullRow = readonly [
  ...SummaryRow,
  input_apart: number,
  input: Text | null,
  output: Text | null,
];

/** The row without its values. */
export function toSummary(row: SummaryRow): ExecutionRow {
  return withValues(row, null, null);
}

/** The whole row. `readInput` is only called for an input that lies apart, when it is looked at. */
export function toExecution(
  row: FullRow,
  readInput: (execution_id: string) => string,
): ExecutionRow {
  const [apart, input, output] = [row[25], row[26], row[27]];
  const execution = withValues(row, fromText(input), fromText(output));
  return apart ? withLazyInput(execution, () => fromText(readInput(row[0]))) : execution;
}

function withValues(
  row: SummaryRow | FullRow,
  input: ExecutionRow["input"],
  output: ExecutionRow["output"],
): ExecutionRow {
  return {
    execution_id: row[0],
    namespace: row[1],
    workflow: row[2],
    version: row[3],
    module_hash: row[4],
    name: row[5],
    state: row[6],
    input,
    output,
    failure: fromText(row[7]) as ExecutionRow["failure"],
    worker: row[8],
    session: row[9],
    last_worker: row[10],
    last_session: row[11],
    generation: row[12],
    head: row[13],
    last_time: row[14],
    resuming: row[15] === 1,
    waits: row[16] === null ? [] : JSON.parse(row[16]),
    priority: row[17],
    queued_at: row[18],
    parent_id: row[19],
    parent_call_id: row[20],
    created_at: row[21],
    started_at: row[22],
    finished_at: row[23],
    updated_at: row[24],
  };
}

/** The row with a patch applied. An input that nobody has looked at yet stays unread. */
export function patched(row: ExecutionRow, patch: ExecutionPatch): ExecutionRow {
  const isLazy = Object.getOwnPropertyDescriptor(row, "input")?.get !== undefined;
  if (!isLazy) return { ...row, ...patch };
  // A spread would look at the input; descriptors hand the unread one on.
  const copy: ExecutionRow = Object.create(Object.prototype, Object.getOwnPropertyDescriptors(row));
  return Object.assign(copy, patch);
}

/** Large inputs cost more to parse than all the rest of a change, and most changes ignore them. */
function withLazyInput(row: ExecutionRow, load: () => ExecutionRow["input"]): ExecutionRow {
  let read: { readonly input: ExecutionRow["input"] } | undefined;
  const get = () => {
    read ??= { input: load() };
    return read.input;
  };
  return Object.defineProperty(row, "input", { get, enumerable: true, configurable: true });
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
    return bindable(row, column);
  });
  return { values, inputApart };
}

const PATCHABLE = [
  "state",
  "output",
  "failure",
  "worker",
  "session",
  "last_worker",
  "last_session",
  "generation",
  "head",
  "last_time",
  "resuming",
  "waits",
  "queued_at",
  "started_at",
  "finished_at",
  "updated_at",
] as const satisfies readonly (keyof ExecutionPatch)[];

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
    const column = PATCHABLE[i] as (typeof PATCHABLE)[number];
    const value = patch[column];
    if (value === undefined || value === row[column]) continue;
    mask |= 1 << i;
    values.push(bindable(patch, column));
  }
  return { mask, values };
}

export function updateSql(mask: number): string {
  const columns = PATCHABLE.filter((_, i) => mask & (1 << i));
  return `UPDATE executions SET ${columns.map((c) => `${c} = ?`).join(", ")} WHERE execution_id = ?`;
}

type Column = Exclude<(typeof COLUMNS)[number], "input_apart">;

function bindable(row: Partial<ExecutionRow>, column: Column): Bindable {
  if (column === "input" || column === "output" || column === "failure") return toText(row[column]);
  if (column === "waits") return row.waits?.length ? JSON.stringify(row.waits) : null;
  if (column === "resuming") return row.resuming ? 1 : 0;
  return row[column] ?? null;
}

function toText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function fromText(text: string | null): ExecutionRow["input"] {
  return text === null ? null : JSON.parse(text);
}
