/** Rows of the store as reads return them (EXE-78): plain JSON, ISO instants, addresses. */
import {
  type BasicExecution,
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

export function toSummary(row: ExecutionRow): ExecutionSummary {
  const address = `/workflows/${row.namespace}/${row.workflow}`;
  return {
    execution_id: row.execution_id,
    namespace: row.namespace,
    workflow: row.workflow,
    version: row.version,
    name: row.name,
    state: row.state,
    error: errorOf(row),
    pause: pauseOf(row),
    waiting: row.waits.map(toWait),
    worker: row.worker,
    generation: row.generation,
    priority: row.priority,
    parent_id: row.parent_id,
    parent_call_id: row.parent_call_id,
    created_at: formatInstant(row.created_at),
    started_at: instant(row.started_at),
    finished_at: instant(row.finished_at),
    updated_at: formatInstant(row.updated_at),
    status_url: `${address}/status/${row.execution_id}`,
    ...(row.state === "PAUSED" && { resume_url: `${address}/resume/${row.execution_id}` }),
  };
}

export function toRecord(row: ExecutionRow, log?: readonly LoggedEvent[]): ExecutionRecord {
  return {
    ...toSummary(row),
    input: toPlain(row.input),
    output: toPlain(row.output),
    ...(log && { events: log.map(toRecordedEvent) }),
  };
}

export function toBasic(row: ExecutionRow): BasicExecution {
  return {
    execution_id: row.execution_id,
    name: row.workflow,
    input: toPlain(row.input),
    output: toPlain(row.output),
  };
}

export function toInspected(row: ExecutionRow, log: readonly LoggedEvent[]): InspectedExecution {
  const { name: label, ...record } = toRecord(row);
  return { ...record, name: row.workflow, label, events: log.map(toRecordedEvent) };
}

export function toRecordedEvent({ event, recorded_at }: LoggedEvent): RecordedEvent {
  return { ...event, value: toPlain(event.value), recorded_at: formatInstant(recorded_at) };
}

function errorOf(row: ExecutionRow): ExecutionError | null {
  if (row.failure) return executionError(row.failure);
  if (row.state !== "CANCELLED") return null;
  return { code: "workflow_cancelled", message: "the execution was cancelled", details: null };
}

/** The pause it rests at: open pauses of a running execution are only in `waiting`. */
function pauseOf(row: ExecutionRow): OpenPause | null {
  if (row.state !== "PAUSED") return null;
  const pause = row.waits.find((wait) => wait.kind === "pause");
  if (!pause) return null;
  return {
    name: pause.name,
    kind: "input",
    value: toPlain(pause.output),
    task_call_id: pause.task_call_id,
    paused_at: formatInstant(pause.since),
  };
}

function toWait({ kind, task_call_id, name, output }: OpenWait): Wait {
  return { kind, task_call_id, name, output: toPlain(output) };
}

function instant(ms: number | null): string | null {
  return ms === null ? null : formatInstant(ms);
}
