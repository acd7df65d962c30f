import { type Event, isOutcome } from "@engine/contract";
import type { BodyEntry, Evidence, ExecutionAtRest } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { type Claim, callsOf, claimsOf, fieldsOf, type RecordedCall } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** I4: a call has one outcome, nothing follows it, and no function runs that is recorded already. */
export function recordedOnce(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  const entries = Map.groupBy(evidence.bodies, ({ execution_id }) => execution_id);
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution.row;
    const calls = callsOf(execution);
    const claims = new Map(claimsOf(execution).map((claim) => [claim.generation, claim]));
    const messages = [
      ...[...calls.values()].flatMap((call) => writtenTwice(call, excuse)),
      ...(entries.get(execution_id) ?? []).flatMap((entry) =>
        ranAgain(entry, { call: calls.get(entry.task_call_id), claims, execution, excuse }),
      ),
      ...openAtEnd(execution, calls),
    ];
    return messages.map((message) => ({ invariant: "I4" as const, execution_id, message }));
  });
}

function writtenTwice(
  { task_call_id, events, start, outcome }: RecordedCall,
  excuse: Excuse,
): string[] {
  const named = (some: readonly Event[]) =>
    some.map(({ seq, type }) => `${seq} ${type}`).join(", ");
  const starts = events.filter(({ type }) => type === "TASK_STARTED");
  const outcomes = events.filter(({ type }) => isOutcome(type));
  const late = events.filter(
    (event) =>
      outcome &&
      event.seq > outcome.seq &&
      !(undoes(event, outcome) && excuse("rolled back behind its end")),
  );
  return [
    ...(starts.length > 1 ? [`${task_call_id} was begun more than once: ${named(starts)}`] : []),
    ...(start && events[0] !== start
      ? [`${task_call_id} has ${named(events.slice(0, 1))} before its start`]
      : []),
    ...(outcomes.length > 1 ? [`${task_call_id} has two outcomes: ${named(outcomes)}`] : []),
    ...(late.length > 0 ? [`${task_call_id} goes on behind its outcome: ${named(late)}`] : []),
  ];
}

/** A call that was given up is rolled back behind its end. */
function undoes({ type }: Event, outcome: Event): boolean {
  return outcome.type === "TASK_CANCELLED" && type.startsWith("TASK_ROLLBACK_");
}

interface Given {
  readonly call: RecordedCall | undefined;
  readonly claims: ReadonlyMap<number, Claim>;
  readonly execution: ExecutionAtRest;
  readonly excuse: Excuse;
}

/** A worker that was given the log with the end of a function in it has no reason to run it. */
function ranAgain(
  { part, task_call_id, attempt, generation, worker }: BodyEntry,
  { call, claims, execution, excuse }: Given,
): string[] {
  const claim = claims.get(generation);
  const what = `${worker} entered ${part} of ${task_call_id}, attempt ${attempt}, under generation ${generation}`;
  if (!claim) return [`${what}, which nobody was ever given`];
  const copied = execution.row.forked_from?.seq ?? 0;
  const known = call?.events.find(
    (event) =>
      event.seq < claim.seq &&
      ends(event, part, attempt) &&
      !(event.seq <= copied && isCutOff(event) && excuse("large output cut off by a fork")),
  );
  if (!known) return [];
  return [
    `${what}, claimed at event ${claim.seq}, though event ${known.seq} ${known.type} has its end`,
  ];
}

/** A large output is told by the outcome alone, and a fork may have cut that off. */
function isCutOff(event: Event): boolean {
  return event.type === "TASK_RETRY_COMPLETED" && !Object.hasOwn(fieldsOf(event), "output");
}

/** Whether an event says that a part of a call is over. */
function ends(event: Event, part: BodyEntry["part"], attempt: number): boolean {
  const { type } = event;
  if (isOutcome(type)) return part !== "rollback" || type !== "TASK_CANCELLED";
  if (part === "rollback")
    return type.startsWith("TASK_ROLLBACK_") && type !== "TASK_ROLLBACK_STARTED";
  if (part === "fallback")
    return type.startsWith("TASK_FALLBACK_") && type !== "TASK_FALLBACK_STARTED";
  if (type === "TASK_ROLLBACK_STARTED" || type === "TASK_FALLBACK_STARTED") return true;
  const of = Number(fieldsOf(event)["attempt"]);
  if (type === "TASK_RETRY_STARTED") return of > attempt;
  return (type === "TASK_RETRY_COMPLETED" || type === "TASK_RETRY_FAILED") && of >= attempt;
}

/** An execution that its own code ended leaves no call without an outcome. */
function openAtEnd({ row }: ExecutionAtRest, calls: ReadonlyMap<string, RecordedCall>): string[] {
  if (row.state !== "COMPLETED") return [];
  return [...calls.values()]
    .filter(({ outcome }) => !outcome)
    .map(({ task_call_id }) => `it is COMPLETED, and ${task_call_id} has no outcome`);
}
