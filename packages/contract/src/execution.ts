import * as z from "zod";
import { AnyJson } from "./any-json.ts";
import { RecordedEvent } from "./event.ts";
import type { Failure } from "./failure.ts";

export const STATES = [
  "CREATED",
  "CLAIMED",
  "RUNNING",
  "PAUSED",
  "RESUMING",
  "CANCELLING",
  "CANCELLED",
  "COMPLETED",
  "FAILED",
] as const;
export const State = z.enum(STATES);
export type State = z.infer<typeof State>;

export type TerminalState = "CANCELLED" | "COMPLETED" | "FAILED";

/** COMPLETED, FAILED and CANCELLED are final: nothing later changes the execution (EXE-18). */
export function isTerminal(state: State): state is TerminalState {
  return state === "COMPLETED" || state === "FAILED" || state === "CANCELLED";
}

/** Something an execution waits for, oldest first in its record. */
export const Wait = z.object({
  kind: z.enum(["pause", "approval", "sleep", "retry", "child", "signal"]),
  task_call_id: z.string(),
  name: z.string(),
  output: AnyJson.optional(),
  until: z.string().optional(),
  execution_id: z.string().optional(),
});
export type Wait = z.infer<typeof Wait>;

/** `error` of an execution record: the stored Failure under its HTTP code. */
export const ExecutionError = z.object({
  code: z.enum(["workflow_failed", "workflow_cancelled"]),
  message: z.string(),
  details: z.record(z.string(), AnyJson).nullable(),
});
export type ExecutionError = z.infer<typeof ExecutionError>;

/** The first open pause of an execution in state PAUSED. */
export const OpenPause = z.object({
  name: z.string(),
  kind: z.enum(["input", "approval"]),
  value: AnyJson,
  task_call_id: z.string(),
  paused_at: z.string(),
});
export type OpenPause = z.infer<typeof OpenPause>;

/** A list row: the record without the values, which can be large (EXE-78). */
export const ExecutionSummary = z.object({
  execution_id: z.string(),
  namespace: z.string(),
  workflow: z.string(),
  /** Null for a local run. */
  version: z.int().positive().nullable(),
  /** A label an operator gave it. */
  name: z.string().nullable(),
  state: State,
  error: ExecutionError.nullable(),
  pause: OpenPause.nullable(),
  waiting: z.array(Wait),
  worker: z.string().nullable(),
  generation: z.int().nonnegative(),
  priority: z.int(),
  parent_id: z.string().nullable(),
  parent_call_id: z.string().nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  updated_at: z.string(),
  status_url: z.string(),
  /** Present only while PAUSED. */
  resume_url: z.string().optional(),
});
export type ExecutionSummary = z.infer<typeof ExecutionSummary>;

/** What reads of an execution answer. Values are plain JSON; `output` is null until COMPLETED. */
export const ExecutionRecord = ExecutionSummary.extend({
  input: AnyJson,
  output: AnyJson,
  /** With `detailed=true`. */
  events: z.array(RecordedEvent).optional(),
});
export type ExecutionRecord = z.infer<typeof ExecutionRecord>;

/** The basic API's short form (EXE-89). */
export const BasicExecution = z.object({
  execution_id: z.string(),
  /** The workflow's name. */
  name: z.string(),
  input: AnyJson,
  output: AnyJson,
});
export type BasicExecution = z.infer<typeof BasicExecution>;

/** With `?inspect=true`: all other fields of the detailed record, the operator's label as `label`. */
export const InspectedExecution = ExecutionRecord.omit({ name: true }).extend({
  name: z.string(),
  label: z.string().nullable(),
  events: z.array(RecordedEvent),
});
export type InspectedExecution = z.infer<typeof InspectedExecution>;

/** `error` of a record, from the stored Failure. */
export function executionError(failure: Failure): ExecutionError {
  const { message, ...details } = failure;
  return { code: "workflow_failed", message, details: details as ExecutionError["details"] };
}
