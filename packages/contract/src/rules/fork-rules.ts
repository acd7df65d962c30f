import { invalidField } from "../errors/invalid-input.ts";
import type { ExecutionRow } from "../executions/execution-row.ts";
import type { Event, NewEvent } from "../log/event.ts";

/** Where a fork leaves its source: one of the two, or neither. */
export interface Cut {
  /** The last event that is copied. */
  readonly from_seq?: number | undefined;
  /** The `task_call_id` of the first call that is not copied. */
  readonly from_call?: string | undefined;
}

/**
 * The events a fork copies (EXE-87): up to `from_seq`, or all before the start of `from_call`;
 * never a cancel or an end. Without a cut the fork copies none and starts anew.
 *
 * @throws EngineError `invalid_input` for a cut that the log does not have.
 */
export function forkHistory(
  row: ExecutionRow,
  log: readonly Event[],
  { from_seq, from_call }: Cut,
): {
  readonly seq: number;
  readonly history: readonly NewEvent[];
  readonly label: string | null;
} {
  const label = createdLabel(log) ?? row.name;
  if (from_seq === undefined && from_call === undefined) return { seq: 0, history: [], label };
  if (from_seq !== undefined && from_call !== undefined) {
    throw invalidField("body.from_call", "give from_seq or from_call, not both");
  }
  const end = log.findIndex(({ type }) => ENDS.has(type));
  const most = end < 0 ? log.length : end;
  const seq = from_seq ?? seqBefore(log, from_call ?? "");
  if (seq === undefined) {
    throw invalidField("body.from_call", `execution ${row.execution_id} has no call ${from_call}`);
  }
  if (seq < 1 || seq > log.length) {
    const message = `the log of execution ${row.execution_id} has events 1 to ${log.length}`;
    throw invalidField("body.from_seq", message);
  }
  const cut = Math.min(seq, most);
  const history = log.slice(1, cut).map(({ seq: _, ...event }) => event);
  return { seq: cut, history, label };
}

/**
 * The label an execution was created with. Its code sees that one, also after an operator has renamed
 * the execution. Undefined: a log from before logs had labels.
 */
export function createdLabel(log: readonly Event[]): string | null | undefined {
  const created = log[0]?.type === "WORKFLOW_CREATED" ? log[0].value : undefined;
  return (created as { label?: string | null } | undefined)?.label;
}

const ENDS: ReadonlySet<string> = new Set([
  "WORKFLOW_CANCELLING",
  "WORKFLOW_CANCELLED",
  "WORKFLOW_COMPLETED",
  "WORKFLOW_FAILED",
]);

function seqBefore(log: readonly Event[], call: string): number | undefined {
  const first = log.find(({ source_id, type }) => source_id === call && type.startsWith("TASK_"));
  return first && first.seq - 1;
}
