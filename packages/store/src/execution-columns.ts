/**
 * The columns of an execution's row in both databases: instants as they are, booleans as 0 and 1, other
 * values as JSON text. {@link toRow} is their table: the lists and masks of both are made from it.
 */
import {
  type ExecutionPatch,
  type ExecutionRow,
  type HookLineage,
  NO_SIGNALS,
  PATCHABLE,
} from "@engine/contract";

/** A stored row as an array in the order of its columns: cheaper to read than an object. */
// biome-ignore lint/suspicious/noExplicitAny: what a column holds is said by the tables of the databases
export type StoredRow = readonly any[];

/**
 * A row as it is read, with its values. It names every column, since a loop over names takes ten times
 * as long.
 *
 * @param row The columns of a listing, in their order; others may follow.
 */
export function toRow(
  row: StoredRow,
  input: ExecutionRow["input"],
  output: ExecutionRow["output"],
): ExecutionRow {
  let at = 0;
  return {
    execution_id: row[at++],
    namespace: row[at++],
    workflow: row[at++],
    version: row[at++],
    module_hash: row[at++],
    name: row[at++],
    state: row[at++],
    input,
    output,
    failure: fromText(row[at++]),
    worker: row[at++],
    session: row[at++],
    last_worker: row[at++],
    last_session: row[at++],
    generation: row[at++],
    head: row[at++],
    last_time: row[at++],
    resuming: row[at++] === 1,
    waits: fromList(row[at++]),
    signals: fromText(row[at++]) ?? NO_SIGNALS,
    watchers: fromList(row[at++]),
    wake_at: row[at++],
    timeout_ms: row[at++],
    cancelling: fromText(row[at++]),
    seed: row[at++],
    transient: row[at++] === 1,
    requirements: fromText(row[at++]),
    losses: fromList(row[at++]),
    outcome_generation: row[at++],
    not_before: row[at++],
    park_ttl_ms: row[at++],
    park_by: row[at++],
    unique_key: row[at++],
    request_hash: row[at++],
    schedule: row[at++],
    scheduled_for: row[at++],
    priority: row[at++],
    queued_at: row[at++],
    parent_id: row[at++],
    parent_call_id: row[at++],
    detached: row[at++] === 1,
    depth: row[at++],
    forked_from: fromText(row[at++]),
    started_by: row[at++],
    run_as: row[at++],
    created_at: row[at++],
    started_at: row[at++],
    finished_at: row[at++],
    updated_at: row[at++],
    routing_input: row[at++],
    hook: toLineage(row[at++], row[at++], row[at++]),
  };
}

function toLineage(
  name: string | null,
  delivery_id: string | null,
  hop: number | null,
): HookLineage | null {
  return hop === null ? null : { name, delivery_id, hop };
}

/** A row as a listing has it, without its values. */
export function toSummary(row: StoredRow): ExecutionRow {
  return toRow(row, null, null);
}

/** Where the hook behind an execution lies: a hop alone is one whose name is not known. */
const LINEAGE = ["hook_name", "hook_delivery_id", "hook_hop"] as const;

/** A column of an execution's row. */
export type ExecutionColumn = Exclude<keyof ExecutionRow, "hook"> | (typeof LINEAGE)[number];

/** The columns of a listing, in the order in which they are read: all but the values. */
export const SUMMARY: readonly ExecutionColumn[] = Object.keys(toSummary([])).flatMap((name) => {
  if (name === "hook") return LINEAGE;
  return name === "input" || name === "output" ? [] : [name as ExecutionColumn];
});

export const SUMMARY_SQL: string = SUMMARY.join(", ");

/** The columns of a set of {@link PATCHABLE}, by its bits. */
export function columnsIn(mask: number): readonly (keyof ExecutionPatch)[] {
  return PATCHABLE.filter((_, i) => mask & (1 << i));
}

/** What is stored of a column. */
export function storedValue(
  row: Partial<ExecutionRow>,
  column: ExecutionColumn,
): string | number | null {
  if (column === "hook_name") return row.hook?.name ?? null;
  if (column === "hook_delivery_id") return row.hook?.delivery_id ?? null;
  if (column === "hook_hop") return row.hook?.hop ?? null;
  const value = row[column];
  if (column === "input" || column === "output") return toText(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "object") return isNothing(value) ? null : JSON.stringify(value);
  return value ?? null;
}

/** Whether NULL is stored for it: so are lists without items, and no signals. */
export function isNothing(value: ExecutionRow[keyof ExecutionRow] | undefined): boolean {
  if (value === null || value === undefined || value === NO_SIGNALS) return true;
  return Array.isArray(value) && value.length === 0;
}

export function toText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export function fromText<Value = ExecutionRow["input"]>(text: string | null): Value | null {
  return text ? JSON.parse(text) : null;
}

function fromList<Item>(text: string | null): readonly Item[] {
  return text ? JSON.parse(text) : [];
}
