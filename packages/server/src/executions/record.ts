/** Rows as reads return them (EXE-78): plain JSON, ISO instants, addresses. */
import {
  type BasicExecution,
  type CancelCause,
  type ExecutionError,
  type ExecutionRecord,
  type ExecutionRow,
  type ExecutionSummary,
  executionError,
  formatInstant,
  type InspectedExecution,
  type OpenPause,
  type OpenWait,
  type RecordedEvent,
  toPlain,
  type Wait,
} from "@engine/contract";
import type { LoggedEvent } from "@engine/store";
import type { Who } from "./principal-refs.ts";

export function toSummary(row: ExecutionRow, who: Who): ExecutionSummary {
  const address = `/workflows/${row.namespace}/${row.workflow}`;
  const facts = {
    execution_id: row.execution_id,
    namespace: row.namespace,
    workflow: row.workflow,
    version: row.version,
    name: row.name,
    error: null,
    pause: null,
    waiting: row.waits.map(toWait),
    worker: row.worker,
    generation: row.generation,
    priority: row.priority,
    parent_id: row.parent_id,
    parent_call_id: row.parent_call_id,
    schedule: row.schedule,
    forked_from: row.forked_from,
    started_by: who(row.started_by),
    run_as: who(row.run_as),
    created_at: formatInstant(row.created_at),
    started_at: instant(row.started_at),
    finished_at: instant(row.finished_at),
    updated_at: formatInstant(row.updated_at),
    status_url: `${address}/status/${row.execution_id}`,
  };
  const { state } = row;
  if (state === "PAUSED") {
    const resume_url = `${address}/resume/${row.execution_id}`;
    return { ...facts, state, pause: pauseOf(row), resume_url };
  }
  if (state === "FAILED" || state === "CANCELLED") return { ...facts, state, error: errorOf(row) };
  return { ...facts, state };
}

export function toRecord(
  row: ExecutionRow,
  who: Who,
  log?: readonly LoggedEvent[],
): ExecutionRecord {
  return {
    ...toSummary(row, who),
    input: toPlain(row.input),
    output: toPlain(row.output),
    ...(log && { hook: row.hook, events: log.map(toRecordedEvent) }),
  };
}

/** What the frames of a stream say. */
export interface FrameData {
  /** Of a state, given the row as it was then, with its values. */
  readonly record: (row: ExecutionRow, who: Who) => object;
  /** Of an event of the log. */
  readonly event: (entry: LoggedEvent) => object;
}

/** Frames for readers who may read the execution. */
export const RECORDS: FrameData = {
  record: (row, who) => toRecord(row, who),
  event: toRecordedEvent,
};

export function toBasic(row: ExecutionRow): BasicExecution {
  return {
    execution_id: row.execution_id,
    name: row.workflow,
    input: toPlain(row.input),
    output: toPlain(row.output),
  };
}

export function toInspected(
  row: ExecutionRow,
  who: Who,
  log: readonly LoggedEvent[],
): InspectedExecution {
  const { name: label, ...record } = toRecord(row, who);
  const { hook } = row;
  return { ...record, name: row.workflow, label, hook, events: log.map(toRecordedEvent) };
}

export function toRecordedEvent({ event: logged, recorded_at }: LoggedEvent): RecordedEvent {
  const { sealed: _, ...event } = logged;
  const value = toPlain(event.value);
  // The log does not check values: the type of a value was decided where the event was written.
  return { ...event, value, recorded_at: formatInstant(recorded_at) } as RecordedEvent;
}

function errorOf({ state, failure, cancelling }: ExecutionRow): ExecutionError {
  if (state === "FAILED" && failure) return executionError(failure);
  const { cause = "request", reason } = cancelling ?? {};
  const why = reason === undefined ? "" : `: ${reason}`;
  return {
    code: "workflow_cancelled",
    message: CANCEL_MESSAGES[cause] + why,
    details: cancelling && { cause, ...(reason !== undefined && { reason }) },
  };
}

const CANCEL_MESSAGES: Readonly<Record<CancelCause, string>> = {
  request: "the execution was cancelled",
  parent: "the execution was cancelled with its parent",
  sibling: "the execution was cancelled when its parent gave up the call",
  timeout: "the execution was cancelled when its time was over",
};

/** The pause that an execution rests at. Open pauses of a running one are only in `waiting`. */
function pauseOf({ execution_id, waits }: ExecutionRow): OpenPause {
  const pause = waits.find((wait) => wait.kind === "pause");
  if (!pause) throw new Error(`execution ${execution_id} is PAUSED without an open pause`);
  return {
    name: pause.name,
    kind: "input",
    value: toPlain(pause.output),
    task_call_id: pause.task_call_id,
    paused_at: formatInstant(pause.since),
  };
}

function toWait({ kind, task_call_id, name, output, until, execution_id }: OpenWait): Wait {
  return {
    kind,
    task_call_id,
    name,
    // Only a pause shows something to the caller who ends it.
    ...(kind === "pause" && { output: toPlain(output) }),
    ...(until !== undefined && { until: formatInstant(until) }),
    ...(execution_id !== undefined && { execution_id }),
  };
}

export function instant(ms: number | null): string | null {
  return ms === null ? null : formatInstant(ms);
}
