import * as z from "zod";
import { AnyJson } from "./any-json.ts";
import {
  CallKind,
  ClaimReason,
  EVENT_TYPES,
  type Event,
  type EventType,
  Trigger,
} from "./event.ts";
import { Failure } from "./failure.ts";

const Attempt = { attempt: z.int(), max_attempts: z.int() };
const Shown = z.object({ name: z.string(), output: AnyJson.optional() });

/**
 * What `value` holds, by type (EXE-23), as reads return it: in plain JSON. The log itself holds
 * values encoded, where an engine-made one may be wrapped together with a rich value inside it.
 */
const VALUES = {
  WORKFLOW_CREATED: z.object({ version: z.int().nullable(), trigger: Trigger }),
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
  /** `error` is that of the attempt before. */
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
  TASK_PAUSED: Shown,
  TASK_RESUMED: z.object({
    name: z.string(),
    input: AnyJson.optional(),
    cause: z.string(),
  }),
  TASK_CANCELLED: z.null(),
} as const satisfies Record<EventType, z.ZodType>;

type Common = Omit<Event, "type" | "value"> & {
  /** ISO 8601: when the commit that holds the event happened. */
  recorded_at: string;
};

/** An event as reads return it: what `value` is follows from `type`. */
export type RecordedEvent = {
  [Type in EventType]: Common & { type: Type; value: z.output<(typeof VALUES)[Type]> };
}[EventType];

const members = EVENT_TYPES.map((type) =>
  z.object({
    seq: z.int().positive(),
    type: z.literal(type),
    source_id: z.string(),
    name: z.string(),
    kind: CallKind,
    value: VALUES[type],
    time: z.string(),
    meta: z.record(z.string(), AnyJson).nullable(),
    recorded_at: z.string(),
  }),
);
// A list that was mapped has lost which member is which; the type above says it.
export const RecordedEvent = z.discriminatedUnion(
  "type",
  members as unknown as [(typeof members)[number]],
) as unknown as z.ZodType<RecordedEvent, RecordedEvent>;
