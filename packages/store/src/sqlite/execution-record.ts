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
  "signals",
  "watchers",
  "wake_at",
  "timeout_ms",
  "cancelling",
  "seed",
  "transient",
  "priority",
  "queued_at",
  "parent_id",
  "parent_call_id",
  "detached",
  "depth",
  "forked_from",
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
  signals: Text | null,
  watchers: Text | null,
  wake_at: number | null,
  timeout_ms: number | null,
  cancelling: Text | null,
  seed: Text,
  transient: number,
  priority: number,
  queued_at: number,
  parent_id: Text | null,
  parent_call_id: Text | null,
  detached: number,
  depth: number,
  forked_from: Text | null,
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
  const [apart, input, output] = [row[35], row[36], row[37]];
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
    waits: fromList(row[16]),
    signals: fromList(row[17]),
    watchers: fromList(row[18]),
    wake_at: row[19],
    timeout_ms: row[20],
    cancelling: fromText(row[21]) as ExecutionRow["cancelling"],
    seed: row[22],
    transient: row[23] === 1,
    priority: row[24],
    queued_at: row[25],
    parent_id: row[26],
    parent_call_id: row[27],
    detached: row[28] === 1,
    depth: row[29],
    forked_from: fromText(row[30]) as ExecutionRow["forked_from"],
    created_at: row[31],
    started_at: row[32],
    finished_at: row[33],
    updated_at: row[34],
  };
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

export const PATCHABLE: readonly (keyof ExecutionPatch)[] = [
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
  "signals",
  "watchers",
  "wake_at",
  "cancelling",
  "queued_at",
  "started_at",
  "finished_at",
  "updated_at",
];

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

export function bindable(row: Partial<ExecutionRow>, column: keyof ExecutionRow): Bindable {
  const value = row[column];
  switch (column) {
    case "input":
    case "output":
    case "failure":
    case "cancelling":
    case "forked_from":
      return toText(value);
    case "waits":
    case "signals":
    case "watchers":
      return row[column]?.length ? JSON.stringify(value) : null;
    case "resuming":
    case "transient":
    case "detached":
      return value ? 1 : 0;
    default:
      return row[column] ?? null;
  }
}

function toText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function fromText(text: string | null): ExecutionRow["input"] {
  return text === null ? null : JSON.parse(text);
}

function fromList<Item>(text: string | null): readonly Item[] {
  return text === null ? [] : JSON.parse(text);
}
