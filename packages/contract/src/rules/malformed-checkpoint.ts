/**
 * What a worker writes is kept as it comes, but the rules read some of it: what a wait is for, when
 * it ends, why an execution failed. An event that the rules could not read is refused before they see
 * it, and so is a value of another form than the event's type promises to its readers.
 */
import type * as z from "zod";
import { EngineError } from "../errors/errors.ts";
import { Failure } from "../errors/failure.ts";
import { type InputIssue, invalidInput } from "../errors/invalid-input.ts";
import type { NewEvent } from "../log/event.ts";
import { EVENT_VALUES } from "../log/event-values.ts";
import { CallStart, Instant, PauseStart, SignalStart, SleepStart } from "../log/wait-starts.ts";
import { AnyJson } from "../values/any-json.ts";
import type { BuiltInCall } from "../values/name.ts";
import { parseEventTime } from "../values/time.ts";
import { peek, store, toPlain, UnencodableValue } from "../values/value.ts";
import type { Checkpoint } from "../workers/checkpoint.ts";
import { isCallStart } from "./call-rules.ts";

/** Why a checkpoint cannot be taken, judged without the log; undefined when it is well formed. */
export function malformedCheckpoint({
  events,
  waiting = [],
  routing_inputs = {},
}: Pick<Checkpoint, "events" | "waiting" | "routing_inputs">): EngineError | undefined {
  for (const [i, event] of events.entries()) {
    if (Number.isNaN(parseEventTime(event.time))) {
      return refusal(`events[${i}].time`, "must be YYYY-MM-DD HH:MM:SS.mmm");
    }
    const schema = schemaOf(event);
    const path = `events[${i}].value`;
    const error = (schema && malformedValue(schema, event, path)) ?? misshapenValue(event, path);
    if (error) return error;
  }
  for (const [i, { until }] of waiting.entries()) {
    const fits = until === undefined || Instant.safeParse(until).success;
    if (!fits) return refusal(`waiting[${i}].until`, "must be an instant in ISO 8601");
  }
  const ids = Object.keys(routing_inputs);
  if (ids.length === 0) return undefined;
  const begun = new Set(events.filter(isCallStart).map(({ source_id }) => source_id));
  const other = ids.find((id) => !begun.has(id));
  if (other === undefined) return undefined;
  return refusal(`routing_inputs.${other}`, "must be of a call that begins among these events");
}

function schemaOf({ type, kind, value }: NewEvent): z.ZodType | undefined {
  if (type === "TASK_PAUSED") return PauseStart;
  if (type === "WORKFLOW_FAILED") return Failure;
  // Null: what the call was made with could not be stored, so it fails and waits for nothing.
  if (type !== "TASK_STARTED" || value === null || kind === null) return undefined;
  return STARTS[kind];
}

/** The calls that begin a wait, with what their TASK_STARTED holds. */
const STARTS: Partial<Record<BuiltInCall, z.ZodType>> = {
  sleep: SleepStart,
  signal: SignalStart,
  call: CallStart,
};

function malformedValue(
  schema: z.ZodType,
  { value }: NewEvent,
  path: string,
): EngineError | undefined {
  let decoded: unknown;
  try {
    decoded = peek(value);
    // What a pause shows and a child gets is stored once more, by itself.
    store(decoded, "value");
  } catch (error) {
    const isOurs = error instanceof UnencodableValue;
    return refusal(path, isOurs ? error.message : "is no stored value");
  }
  const { error } = schema.safeParse(decoded);
  return error && invalidInput(error, path);
}

/** Values of a user's own, which may be anything, are not looked at. */
function misshapenValue({ type, value }: NewEvent, path: string): EngineError | undefined {
  const schema: z.ZodType = EVENT_VALUES[type];
  if (schema === AnyJson) return undefined;
  const { error } = schema.safeParse(toPlain(value));
  return error && invalidInput(error, path);
}

function refusal(path: string, message: string): EngineError {
  const issues: InputIssue[] = [{ path, message }];
  return new EngineError("invalid_input", `${path}: ${message}`, { details: { issues } });
}
