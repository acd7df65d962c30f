/**
 * The types of events. WORKFLOW_… events concern the execution itself, their `source_id` is its id;
 * TASK_… events concern one call, whose `task_call_id` is their `source_id`.
 */
import * as z from "zod";
import { Failure } from "../errors/failure.ts";
import { AnyJson } from "../values/any-json.ts";

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

const Attempt = { attempt: z.int(), max_attempts: z.int() };
const Shown = z.object({ name: z.string(), output: AnyJson.optional() });
const Pause = Shown.extend({
  /** When the engine ends it by itself. */
  until: z.string().optional(),
  /** The execution whose end ends it. */
  on_complete: z.string().optional(),
});

/**
 * Every event type with what its `value` holds (EXE-23), as reads return it: in plain JSON. The log itself holds
 * values encoded, where an engine-made one may be wrapped together with a rich value inside it.
 */
export const EVENT_VALUES = {
  WORKFLOW_CREATED: z.object({
    version: z.int().nullable(),
    trigger: Trigger,
    /** What `ctx.label` shows for good; a label given later is the operator's alone. */
    label: z.string().nullable().optional(),
  }),
  WORKFLOW_CLAIMED: z.object({
    worker: z.string(),
    generation: z.int(),
    reason: ClaimReason,
    attempt: z.int(),
    score: z.number().nullable(),
  }),
  /** The input. */
  WORKFLOW_STARTED: AnyJson,
  WORKFLOW_PAUSED: Shown,
  /** The resume input, null for other causes. */
  WORKFLOW_RESUMING: AnyJson,
  WORKFLOW_RESUMED: AnyJson,
  WORKFLOW_SIGNALED: z.object({ name: z.string(), payload: AnyJson.optional() }),
  WORKFLOW_CANCELLING: z.null(),
  WORKFLOW_CANCELLED: z.null(),
  WORKFLOW_COMPLETED: AnyJson,
  WORKFLOW_FAILED: Failure,
  WORKFLOW_WARNING: z.object({
    code: z.enum(["argument_changed", "history_large", "signal_dropped", "not_unwound"]),
    message: z.string(),
    task_call_id: z.string().optional(),
  }),
  /** The call's input; of a built-in its arguments without functions. */
  TASK_STARTED: AnyJson,
  TASK_COMPLETED: AnyJson,
  TASK_FAILED: Failure,
  /** `error` is the failure of the attempt before. */
  TASK_RETRY_STARTED: z.object({
    ...Attempt,
    delay_ms: z.number(),
    not_before: z.string(),
    error: Failure,
  }),
  TASK_RETRY_COMPLETED: z.object({ ...Attempt, output: AnyJson.optional() }),
  TASK_RETRY_FAILED: z.object({ ...Attempt, error: Failure }),
  TASK_FALLBACK_STARTED: z.object({ error: Failure }),
  TASK_FALLBACK_COMPLETED: AnyJson,
  TASK_FALLBACK_FAILED: Failure,
  TASK_ROLLBACK_STARTED: z.object({
    reason: z.enum(["failure", "cancel"]),
    error: Failure.optional(),
  }),
  TASK_ROLLBACK_COMPLETED: z.null(),
  TASK_ROLLBACK_FAILED: Failure,
  TASK_PAUSED: Pause,
  TASK_RESUMED: z.object({
    name: z.string(),
    input: AnyJson.optional(),
    cause: z.string(),
  }),
  TASK_CANCELLED: z.null(),
} as const satisfies Record<string, z.ZodType>;

/** Every type of event that a log may hold. */
export type EventType = keyof typeof EVENT_VALUES;
/** The same as a list, in the order of the table. */
export const EVENT_TYPES = Object.keys(EVENT_VALUES) as [EventType, ...EventType[]];
