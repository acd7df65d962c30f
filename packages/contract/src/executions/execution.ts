import * as z from "zod";
import { PrincipalRef } from "../auth/principal.ts";
import { Failure } from "../errors/failure.ts";
import { RecordedEvent } from "../log/recorded-event.ts";
import { AnyJson } from "../values/any-json.ts";

/**
 * Every state of an execution, in the order in which they come about (EXE-16). `CLAIMED` has a worker
 * that has not told of it yet; `RESUMING` waits for one to go on; `CANCELLING` unwinds.
 */
export const State = z.enum([
  "CREATED",
  "CLAIMED",
  "RUNNING",
  "PAUSED",
  "RESUMING",
  "CANCELLING",
  "CANCELLED",
  "COMPLETED",
  "FAILED",
]);
export type State = z.infer<typeof State>;

/** A state that is never left. */
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

const facts = {
  execution_id: z.string(),
  namespace: z.string(),
  workflow: z.string(),
  /** Null for a local run. */
  version: z.int().positive().nullable(),
  waiting: z.array(Wait),
  worker: z.string().nullable(),
  generation: z.int().nonnegative(),
  priority: z.int(),
  parent_id: z.string().nullable(),
  parent_call_id: z.string().nullable(),
  /** Name of the schedule that started it. */
  schedule: z.string().nullable(),
  /** Of a fork: where it left its source. */
  forked_from: z.object({ execution_id: z.string(), seq: z.int() }).nullable(),
  /** Who started it, also where that principal is gone; null: nobody, as without authorization. */
  started_by: PrincipalRef.nullable(),
  /** Whose rights apply to it now (AUTH-34). */
  run_as: PrincipalRef.nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  updated_at: z.string(),
  status_url: z.string(),
};
/** The hook behind an execution, however many executions lie between (HOOK-33, HOOK-35). */
export const ExecutionHook = z.object({
  /** Null where an input does not say; so is the delivery. */
  name: z.string().nullable(),
  delivery_id: z.string().nullable(),
  /** How many hooks fired before this one in its chain, from 0. */
  hop: z.int().nonnegative(),
});
export type ExecutionHook = z.infer<typeof ExecutionHook>;

/** A label an operator gave it. */
const label = z.string().nullable();
/** Plain JSON; `output` is null until COMPLETED. */
const values = { input: AnyJson, output: AnyJson };

const Active = z.enum(["CREATED", "CLAIMED", "RUNNING", "RESUMING", "CANCELLING"]);
const Unsuccessful = z.enum(["FAILED", "CANCELLED"]);

/** A union over the state: only a paused execution has a pause, only an unsuccessful one an error. */
function byState<Shape extends z.ZodRawShape>(shape: Shape) {
  const calm = { ...shape, error: z.null(), pause: z.null() };
  return z.discriminatedUnion("state", [
    z.object({ ...calm, state: Active }),
    z.object({ ...calm, state: z.literal("PAUSED"), pause: OpenPause, resume_url: z.string() }),
    z.object({ ...calm, state: z.literal("COMPLETED") }),
    z.object({ ...calm, state: Unsuccessful, error: ExecutionError }),
  ]);
}

/** A list row: the record without the values, which can be large (EXE-78). */
export const ExecutionSummary = byState({ ...facts, name: label });
export type ExecutionSummary = z.infer<typeof ExecutionSummary>;

/** What reads of an execution answer; with `detailed=true` the hook behind it and its log too. */
export const ExecutionRecord = byState({
  ...facts,
  name: label,
  ...values,
  hook: ExecutionHook.nullable().optional(),
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
export const InspectedExecution = byState({
  ...facts,
  /** The workflow's name. */
  name: z.string(),
  label,
  ...values,
  hook: ExecutionHook.nullable(),
  events: z.array(RecordedEvent),
});
export type InspectedExecution = z.infer<typeof InspectedExecution>;

/** `error` of a record, from the stored Failure; {@link failureOf} gives it back. */
export function executionError(failure: Failure): ExecutionError {
  const { message, ...details } = failure;
  return { code: "workflow_failed", message, details: details as ExecutionError["details"] };
}

/** The Failure that an `error` tells of; of one with other details what it has of it. */
export function failureOf({ message, details }: ExecutionError): Failure {
  const failure = Failure.safeParse({ ...details, message });
  if (failure.success) return failure.data;
  const rest = { retryable: false, cause: null, attempts: 1, task_call_id: null };
  return { type: "Error", code: null, message, details, ...rest };
}
