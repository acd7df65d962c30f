import { type Encoded, isOutcome, referenceOf } from "@engine/contract";
import type { Death, Entry, Evidence, ExecutionSeen, Violation } from "../evidence.ts";
import { diedBefore, waitedItself } from "./excuses.ts";
import { callsOf, committedAt, copiedUpTo, type LoggedEvent } from "./logged-calls.ts";

/**
 * I4, I5: a function runs once for an attempt, and again only where its process was killed before its
 * end was recorded, or where it waited itself while its execution was taken from memory.
 */
export function enteredOnce(evidence: Evidence): readonly Violation[] {
  const entries = Map.groupBy(evidence.entries, ({ execution_id }) => execution_id);
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution;
    const own = entries.get(execution_id) ?? [];
    const messages = [
      ...repeats(own, execution, evidence.deaths),
      ...afterTheEnd(own, execution),
      ...twiceMade(execution),
    ];
    return messages.map((message) => ({ judge: "entered once", execution_id, message }));
  });
}

function repeats(entries: readonly Entry[], of: ExecutionSeen, deaths: readonly Death[]): string[] {
  const runs = Map.groupBy(entries, (one) => nameOf(one));
  return [...runs].flatMap(([what, own]) =>
    own.flatMap((again, i) => {
      const before = own[i - 1];
      if (!before || diedBefore(before, again, deaths)) return [];
      if (waitedItself(before, again, of)) return [];
      const times = `by ${before.pid} at ${before.at}, by ${again.pid} at ${again.at}`;
      return [`${what} was entered again though nothing had died: ${times}`];
    }),
  );
}

function nameOf({ part, task_call_id, attempt }: Entry): string {
  return `${part} of ${task_call_id}, attempt ${attempt},`;
}

/** What is recorded does not run again. */
function afterTheEnd(entries: readonly Entry[], { history }: ExecutionSeen): string[] {
  const calls = callsOf(history);
  const copied = copiedUpTo(history);
  return entries.flatMap((entry) => {
    const outcome = calls.get(entry.task_call_id)?.outcome;
    // A call that was given up is rolled back behind its end.
    if (!outcome || (entry.part === "rollback" && outcome.type === "TASK_CANCELLED")) return [];
    if (committedAt(outcome) >= entry.at && outcome.seq > copied) return [];
    return [`${nameOf(entry)} was entered at ${entry.at}, after event ${outcome.seq}, its outcome`];
  });
}

/** A place of the program is one call. */
function twiceMade({ history }: ExecutionSeen): string[] {
  const starts = history.events.filter((event) => event.type === "TASK_STARTED");
  const paths = Map.groupBy(starts, (event) => pathOf(event));
  const messages = [...paths].flatMap(([path, own]) =>
    path === undefined || own.length === 1
      ? []
      : [`${path} is ${own.length} calls: ${own.map(({ source_id }) => source_id).join(", ")}`],
  );
  const outcomes = Map.groupBy(
    history.events.filter(({ type }) => isOutcome(type)),
    ({ source_id }) => source_id,
  );
  for (const [call, own] of outcomes) {
    if (own.length > 1)
      messages.push(`${call} has outcomes ${own.map(({ seq }) => seq).join(", ")}`);
  }
  return messages;
}

function pathOf({ kind, value }: LoggedEvent): string | undefined {
  if (kind !== null || typeof value !== "object" || value === null) return undefined;
  if (referenceOf(value as Encoded)) return undefined;
  const { path } = value as { path?: unknown };
  return typeof path === "string" ? path : undefined;
}
