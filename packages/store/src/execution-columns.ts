/** The columns of an execution's row that every store has: instants as they are, values as JSON text. */
import {
  type ExecutionPatch,
  type ExecutionRow,
  type KeptSignals,
  NO_SIGNALS,
} from "@engine/contract";

/** Those of a listing, in the order of {@link SummaryRow}: all but the values. */
export const SUMMARY: readonly (keyof ExecutionRow)[] = [
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
  "requirements",
  "losses",
  "outcome_generation",
  "not_before",
  "park_ttl_ms",
  "park_by",
  "unique_key",
  "request_hash",
  "schedule",
  "scheduled_for",
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
];

export const SUMMARY_SQL: string = SUMMARY.join(", ");

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
  requirements: Text | null,
  losses: Text | null,
  outcome_generation: number,
  not_before: number | null,
  park_ttl_ms: number | null,
  park_by: number | null,
  unique_key: Text | null,
  request_hash: Text | null,
  schedule: Text | null,
  scheduled_for: number | null,
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

/** The row without its values. */
export function toSummary(row: readonly [...SummaryRow, ...unknown[]]): ExecutionRow {
  return withValues(row, null, null);
}

export function withValues(
  row: readonly [...SummaryRow, ...unknown[]],
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
    signals: (fromText(row[17]) as KeptSignals | null) ?? NO_SIGNALS,
    watchers: fromList(row[18]),
    wake_at: row[19],
    timeout_ms: row[20],
    cancelling: fromText(row[21]) as ExecutionRow["cancelling"],
    seed: row[22],
    transient: row[23] === 1,
    requirements: fromText(row[24]) as ExecutionRow["requirements"],
    losses: fromList(row[25]),
    outcome_generation: row[26],
    not_before: row[27],
    park_ttl_ms: row[28],
    park_by: row[29],
    unique_key: row[30],
    request_hash: row[31],
    schedule: row[32],
    scheduled_for: row[33],
    priority: row[34],
    queued_at: row[35],
    parent_id: row[36],
    parent_call_id: row[37],
    detached: row[38] === 1,
    depth: row[39],
    forked_from: fromText(row[40]) as ExecutionRow["forked_from"],
    created_at: row[41],
    started_at: row[42],
    finished_at: row[43],
    updated_at: row[44],
  };
}

/** What a change may write: fewer than 32, so that a set of them is the bits of a number. */
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
  "name",
  "losses",
  "outcome_generation",
  "not_before",
  "park_by",
  "started_at",
  "finished_at",
  "updated_at",
];

/** What is stored of a column. */
export function storedValue(
  row: Partial<ExecutionRow>,
  column: keyof ExecutionRow,
): string | number | null {
  const value = row[column];
  switch (column) {
    case "input":
    case "output":
    case "failure":
    case "cancelling":
    case "requirements":
    case "forked_from":
      return toText(value);
    case "signals":
      return row.signals?.count ? JSON.stringify(row.signals) : null;
    case "waits":
    case "watchers":
    case "losses":
      return row[column]?.length ? JSON.stringify(value) : null;
    case "resuming":
    case "transient":
    case "detached":
      return value ? 1 : 0;
    default:
      return row[column] ?? null;
  }
}

export function toText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export function fromText(text: string | null): ExecutionRow["input"] {
  return text === null ? null : JSON.parse(text);
}

function fromList<Item>(text: string | null): readonly Item[] {
  return text === null ? [] : JSON.parse(text);
}

/** Large inputs cost more to parse than all the rest of a change, and most changes ignore them. */
export function withLazyInput(row: ExecutionRow, load: () => ExecutionRow["input"]): ExecutionRow {
  let read: { readonly input: ExecutionRow["input"] } | undefined;
  const get = () => {
    read ??= { input: load() };
    return read.input;
  };
  return Object.defineProperty(row, "input", { get, enumerable: true, configurable: true });
}
