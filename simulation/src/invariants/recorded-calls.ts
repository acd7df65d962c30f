/** Reads logs for the judges, on purpose without the engine's own code for doing so. */
import { decode, type Encoded, type Event, isOutcome, referenceOf } from "@engine/contract";
import type { Commit, Evidence, ExecutionAtRest } from "../evidence.ts";

/** A call of a log with everything that was recorded of it. */
export interface RecordedCall {
  readonly task_call_id: string;
  readonly name: string;
  readonly kind: Event["kind"];
  readonly start: Event | undefined;
  readonly events: readonly Event[];
  readonly outcome: Event | undefined;
}

export function callsOf({ log }: ExecutionAtRest): ReadonlyMap<string, RecordedCall> {
  const events = new Map<string, Event[]>();
  for (const { event } of log) {
    if (!event.type.startsWith("TASK_")) continue;
    const own = events.get(event.source_id);
    if (own) own.push(event);
    else events.set(event.source_id, [event]);
  }
  return new Map([...events].map(([task_call_id, own]) => [task_call_id, call(task_call_id, own)]));
}

function call(task_call_id: string, events: readonly Event[]): RecordedCall {
  const start = events.find(({ type }) => type === "TASK_STARTED");
  const outcome = events.find(({ type }) => isOutcome(type));
  const { name, kind } = events[0] as Event;
  return { task_call_id, name, kind, start, events, outcome };
}

/** Up to this event a fork's log is a copy of another execution's. */
export function copiedUpTo({ row }: ExecutionAtRest): number {
  return row.forked_from?.seq ?? 0;
}

export interface Claim {
  readonly seq: number;
  readonly generation: number;
  readonly worker: string;
}

/** The claims of an execution itself, without those a fork copied. */
export function claimsOf(execution: ExecutionAtRest): readonly Claim[] {
  const copied = copiedUpTo(execution);
  return execution.log.flatMap(({ event: { type, seq, value } }) => {
    if (type !== "WORKFLOW_CLAIMED" || seq <= copied) return [];
    const { generation, worker } = decode(value) as { generation: number; worker: string };
    return [{ seq, generation, worker }];
  });
}

/** What an event holds, as an object. */
export function fieldsOf({ value }: Pick<Event, "value">): Readonly<Record<string, unknown>> {
  const fields = decode(value);
  return typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
}

/** The stored form of a value, wherever it is kept. */
export function storedForm(value: Encoded, { stored }: Pick<Evidence, "stored">): Encoded {
  const reference = referenceOf(value);
  const text = reference && stored[reference.reference_id];
  return text === undefined ? value : (JSON.parse(text) as Encoded);
}

/** Commits of each execution, in order. */
export function commitsByExecution({
  commits,
}: Pick<Evidence, "commits">): ReadonlyMap<string, readonly Commit[]> {
  return Map.groupBy(commits, ({ execution_id }) => execution_id);
}

/** The commit that wrote an event. */
export function commitOf(commits: readonly Commit[], seq: number): Commit | undefined {
  return commits.find(({ events }) => {
    const [first, last] = [events[0], events.at(-1)];
    return first !== undefined && last !== undefined && first.seq <= seq && seq <= last.seq;
  });
}
