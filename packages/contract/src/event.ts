import * as z from "zod";
import { AnyJson } from "./any-json.ts";
import { BUILT_IN_CALLS } from "./name.ts";

/** Event types of the execution itself (EXE-23); `source_id` is the execution's id. */
export const WORKFLOW_EVENT_TYPES = [
  "WORKFLOW_CREATED",
  "WORKFLOW_CLAIMED",
  "WORKFLOW_STARTED",
  "WORKFLOW_PAUSED",
  "WORKFLOW_RESUMING",
  "WORKFLOW_RESUMED",
  "WORKFLOW_CANCELLING",
  "WORKFLOW_CANCELLED",
  "WORKFLOW_COMPLETED",
  "WORKFLOW_FAILED",
  "WORKFLOW_WARNING",
] as const;

/** Event types of one call; `source_id` is its `task_call_id`. */
const TASK_EVENT_TYPES = [
  "TASK_STARTED",
  "TASK_COMPLETED",
  "TASK_FAILED",
  "TASK_RETRY_STARTED",
  "TASK_RETRY_COMPLETED",
  "TASK_RETRY_FAILED",
  "TASK_FALLBACK_STARTED",
  "TASK_FALLBACK_COMPLETED",
  "TASK_FALLBACK_FAILED",
  "TASK_ROLLBACK_STARTED",
  "TASK_ROLLBACK_COMPLETED",
  "TASK_ROLLBACK_FAILED",
  "TASK_PAUSED",
  "TASK_RESUMED",
  "TASK_CANCELLED",
] as const;

export const EVENT_TYPES = [...WORKFLOW_EVENT_TYPES, ...TASK_EVENT_TYPES] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What a call is: null for a user's task, else the built-in's name (EXE-23). */
export const CallKind = z.enum(BUILT_IN_CALLS).nullable();
export type CallKind = z.infer<typeof CallKind>;

/**
 * An event before the log has given it a number: what a worker sends. `value` is encoded (see
 * `encode` in `value.ts`): rich values carry their tags.
 */
export const NewEvent = z.object({
  type: z.enum(EVENT_TYPES),
  /** The execution id, or the `task_call_id` of the call. */
  source_id: z.string(),
  /** Workflow or task name. */
  name: z.string(),
  kind: CallKind,
  value: AnyJson,
  /** UTC, `YYYY-MM-DD HH:MM:SS.mmm`; never before that of the previous event. */
  time: z.string(),
  meta: z.record(z.string(), AnyJson).nullable(),
});
export type NewEvent = z.infer<typeof NewEvent>;

/** One line of an execution's log. `seq` is dense from 1 and is the event's id. */
export const Event = NewEvent.extend({ seq: z.int().positive() });
export type Event = z.infer<typeof Event>;

/** What caused an execution to exist: the `trigger` of WORKFLOW_CREATED. */
export const Trigger = z.object({
  kind: z.enum(["api", "service", "mcp", "schedule", "hook", "call", "fork", "local"]),
  id: z.string().optional(),
  at: z.string().optional(),
});
export type Trigger = z.infer<typeof Trigger>;

/** Why a worker was given an execution: `reason` of WORKFLOW_CLAIMED and of the assign frame. */
export const ClaimReason = z.enum(["start", "resume", "recover", "cancel"]);
export type ClaimReason = z.infer<typeof ClaimReason>;

/** The last event of a call: nothing after it belongs to that call. */
export function isOutcome(type: EventType): boolean {
  return type === "TASK_COMPLETED" || type === "TASK_FAILED" || type === "TASK_CANCELLED";
}
