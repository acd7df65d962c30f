/** Reads logs for the judges, on purpose without the engine's own code for doing so. */
import { decode, type Encoded, type History, isOutcome, referenceOf } from "@engine/contract";

export type LoggedEvent = History["events"][number];

/** A call of a log with everything that was recorded of it. */
export interface LoggedCall {
  readonly task_call_id: string;
  readonly name: string;
  readonly kind: LoggedEvent["kind"];
  readonly start: LoggedEvent | undefined;
  readonly events: readonly LoggedEvent[];
  readonly outcome: LoggedEvent | undefined;
}

export function callsOf({ events }: Pick<History, "events">): ReadonlyMap<string, LoggedCall> {
  const ofCalls = events.filter(({ type }) => type.startsWith("TASK_"));
  const byCall = Map.groupBy(ofCalls, ({ source_id }) => source_id);
  return new Map([...byCall].map(([id, own]) => [id, callOf(id, own)]));
}

function callOf(task_call_id: string, events: readonly LoggedEvent[]): LoggedCall {
  const { name = "", kind = null } = events[0] ?? {};
  const start = events.find(({ type }) => type === "TASK_STARTED");
  const outcome = events.find(({ type }) => isOutcome(type));
  return { task_call_id, name, kind, start, events, outcome };
}

/** Up to this event the log of a fork is that of another execution; 0: it is no fork. */
export function copiedUpTo({ events }: Pick<History, "events">): number {
  const forked = events[0]?.meta?.["forked_from"] as { seq?: number } | undefined;
  return forked?.seq ?? 0;
}

/** What an event holds, as an object; nothing where it is kept elsewhere. */
export function fieldsOf({ value }: Pick<LoggedEvent, "value">): Readonly<Record<string, unknown>> {
  if (referenceOf(value as Encoded)) return {};
  const fields = decode(value as Encoded);
  return typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
}

export function hasEnded({ events }: Pick<History, "events">): boolean {
  return ENDS.has(events.at(-1)?.type ?? "");
}

const ENDS: ReadonlySet<string> = new Set([
  "WORKFLOW_COMPLETED",
  "WORKFLOW_FAILED",
  "WORKFLOW_CANCELLED",
]);

/** When the server committed an event, milliseconds since 1970. */
export function committedAt({ recorded_at }: Pick<LoggedEvent, "recorded_at">): number {
  return Date.parse(recorded_at);
}
