import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";
import { BUILT_IN_CALLS } from "../values/name.ts";
import { EVENT_TYPES, type EventType } from "./event-values.ts";

/** What a call is: null for a user's task, else the built-in's name (EXE-23). */
export const CallKind = z.enum(BUILT_IN_CALLS).nullable();
export type CallKind = z.infer<typeof CallKind>;

/** Beside the value; nothing that code receives depends on it (EXE-29). */
export const EventMeta = z
  .record(z.string(), AnyJson)
  .nullable()
  .describe(
    "`stack`: of an event that tells a failure, the lines of the author's code that led there; answers of runs and resumes leave it out",
  );

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
  /** UTC, `YYYY-MM-DD HH:MM:SS.mmm`; never before the time of the previous event. */
  time: z.string(),
  meta: EventMeta,
});
export type NewEvent = z.infer<typeof NewEvent> & {
  /** What `value` stands for, encrypted; in the store alone (SEC-9). */
  readonly sealed?: string | undefined;
};

/** What a worker sends: a value that nobody is to read comes as its marker, and beside it as it is. */
export const SentEvent = NewEvent.extend({
  hidden: AnyJson.optional().describe("what `value` only stands for; kept encrypted (SEC-9)"),
});
export type SentEvent = NewEvent & Pick<z.infer<typeof SentEvent>, "hidden">;

/** The event with its value as it is, for whoever runs the code that made it. */
export function revealed<Sent extends SentEvent>({ hidden, ...event }: Sent): Omit<Sent, "hidden"> {
  return hidden === undefined ? event : { ...event, value: hidden };
}

/** One line of an execution's log. `seq` is dense from 1 and is the event's id. */
export const Event = NewEvent.extend({ seq: z.int().positive() });
export type Event = NewEvent & { seq: number };

/** The last event of a call: nothing after it belongs to that call. */
export function isOutcome(type: EventType): boolean {
  return type === "TASK_COMPLETED" || type === "TASK_FAILED" || type === "TASK_CANCELLED";
}
