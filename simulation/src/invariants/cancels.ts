import type { BodyEntry, CopyKept, Evidence, ExecutionAtRest } from "../evidence.ts";
import { INNER_TASK, STEP_TASKS, type StepTask } from "../programs/program.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { callsOf, claimsOf, fieldsOf, type RecordedCall } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** How long the word of a cancel may be on its way to a worker that is reached. */
const WORD_MS = 5_000;
/** As long as a worker may be given up after it went silent. */
const AFTERMATH_MS = 120_000;

/** I13: after a cancel no task starts, and the rollbacks that must run do run. */
export function cancels(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  const entries = Map.groupBy(evidence.bodies, ({ execution_id }) => execution_id);
  const ofLogs = evidence.executions.flatMap((execution) => {
    const { execution_id } = execution.row;
    const begun = execution.log.find(({ event }) => event.type === "WORKFLOW_CANCELLING");
    if (!begun) return [];
    const { seq } = begun.event;
    const own = entries.get(execution_id) ?? [];
    const cancel = { seq, at: cancelledAt(evidence, execution_id, seq) };
    const messages = [
      ...startsBehind({ execution, entries: own, cancel, evidence, excuse }),
      ...entriesBehind({ execution, entries: own, cancel, evidence, excuse }),
      ...rollbacks({ execution, entries: own, cancel, evidence, excuse }),
    ];
    return messages.map((message) => ({ invariant: "I13" as const, execution_id, message }));
  });
  return [...ofLogs, ...survivors(evidence), ...unheard(evidence)];
}

/** An execution that was cancelled. */
interface Cancelled {
  readonly execution: ExecutionAtRest;
  readonly entries: readonly BodyEntry[];
  readonly cancel: { readonly seq: number; readonly at: number };
  readonly evidence: Evidence;
  readonly excuse: Excuse;
}

function cancelledAt({ commits }: Evidence, id: string, seq: number): number {
  const commit = commits.find(
    ({ execution_id, events }) => execution_id === id && events.some((event) => event.seq === seq),
  );
  return commit?.at ?? Number.POSITIVE_INFINITY;
}

/**
 * Who takes it to unwind it knows of the cancel: a call that the code tries there comes to nothing.
 * Combinators are none: they only hold what is in them together. A copy that was kept learns of the
 * cancel where it is, and what it had begun before is recorded behind.
 */
function startsBehind({ execution, entries, cancel, evidence, excuse }: Cancelled): string[] {
  const { seq: cancelling, at } = cancel;
  const claim = claimsOf(execution).find(({ seq }) => seq > cancelling);
  if (!claim) return [];
  const { execution_id } = execution.row;
  const kept = evidence.keeps.find(
    (keep) =>
      keep.execution_id === execution_id && keep.generation === claim.generation && keep.at >= at,
  );
  const hadBegun = ({ task_call_id, kind }: RecordedCall) => {
    if (!kept) return false;
    // Of what is no task nobody notes when it began. Earlier copies may have begun it in vain.
    if (kind !== null) return true;
    return entries.some(
      (entry) =>
        entry.task_call_id === task_call_id &&
        entry.process === kept.process &&
        entry.at <= heardBy(kept),
    );
  };
  return [...callsOf(execution).values()].flatMap((call) => {
    const { task_call_id, kind, start, outcome } = call;
    if (!start || start.seq < claim.seq || (kind !== null && COMBINATORS.has(kind))) return [];
    const isEntered = entries.some((entry) => entry.task_call_id === task_call_id);
    const isInVain =
      outcome?.type === "TASK_CANCELLED" || (outcome?.type === "TASK_FAILED" && !isEntered);
    if (isInVain && excuse("begun in vain behind a cancel")) return [];
    if (hadBegun(call) && excuse("begun by a copy that was kept")) return [];
    return [
      `${task_call_id} is begun at event ${start.seq}, though event ${cancelling} cancels it`,
    ];
  });
}

/** A copy that was kept hears of the cancel in the frame behind the one that says so. */
function heardBy({ at }: CopyKept): number {
  return at + WORD_MS;
}

const COMBINATORS: ReadonlySet<string> = new Set(["parallel", "map", "pipeline", "graph"]);

function entriesBehind({ execution, entries, cancel, evidence, excuse }: Cancelled): string[] {
  const { faults, keeps } = evidence;
  const { execution_id } = execution.row;
  const unwinding = new Map(
    claimsOf(execution)
      .filter(({ seq }) => seq > cancel.seq)
      .map(({ generation, seq }) => [generation, seq]),
  );
  const calls = callsOf(execution);
  const hasHeard = ({ generation, process, at }: BodyEntry) =>
    !keeps.some(
      (keep) =>
        keep.execution_id === execution_id &&
        keep.generation === generation &&
        keep.process === process &&
        at <= heardBy(keep),
    );
  return entries.flatMap((entry) => {
    const { part, task_call_id, attempt, generation, worker, at } = entry;
    if (part === "rollback") return [];
    // What was under way may be run again, for the sake of the calls in it that have a rollback; and
    // what was on its way to the log when the cancel came is recorded behind it.
    const given = unwinding.get(generation) ?? cancel.seq;
    const isFrom = part === "run" && hadBegun(calls.get(task_call_id), attempt, given);
    // What was entered before the cancel has nothing to be excused for.
    if (isFrom && (at <= cancel.at || excuse("on its way when a cancel came"))) return [];
    const what = `${worker} entered ${part} of ${task_call_id} at ${at} under generation ${generation}`;
    if (unwinding.has(generation) && hasHeard(entry))
      return [`${what}, which was given to it to unwind`];
    if (at <= cancel.at) return [];
    if (at <= cancel.at + WORD_MS && excuse("the word of a cancel takes its time")) return [];
    const isCutOff = faults.some(
      (fault) => fault.at <= at && (fault.until ?? fault.at) + AFTERMATH_MS >= cancel.at,
    );
    return isCutOff && excuse("cut off from the word of a cancel")
      ? []
      : [`${what}, ${at - cancel.at} ms behind its cancel at event ${cancel.seq}`];
  });
}

function hadBegun(call: RecordedCall | undefined, attempt: number, before: number): boolean {
  if (attempt === 1) return (call?.start?.seq ?? Number.POSITIVE_INFINITY) < before;
  const earlier = call?.events.filter(({ seq }) => seq < before) ?? [];
  return earlier.some(
    (event) => event.type === "TASK_RETRY_STARTED" && fieldsOf(event)["attempt"] === attempt,
  );
}

/** A call that was under way is rolled back, unless the log says that nobody came to do it. */
function rollbacks({ execution, entries, cancel, excuse }: Cancelled): string[] {
  const { seq: cancelling } = cancel;
  const { row, log } = execution;
  const isOver = row.state === "CANCELLED" || row.failure?.type === "WorkflowTimeoutError";
  const isUnwound = !log.some(
    ({ event }) =>
      event.type === "WORKFLOW_WARNING" && JSON.stringify(event.value).includes("not_unwound"),
  );
  if (!isOver) return [];
  if (!isUnwound && excuse("nobody came to unwind")) return [];
  return [...callsOf(execution).values()].flatMap((call) => {
    const { task_call_id, outcome } = call;
    if (!hasRollback(call) || !outcome || outcome.seq < cancelling) return [];
    if (outcome.type !== "TASK_CANCELLED") return [];
    const own = entries.filter((entry) => entry.task_call_id === task_call_id);
    const isEntered = own.some(({ part }) => part === "run");
    if (!isEntered && excuse("cancelled before it was entered")) return [];
    const done = call.events.find(
      ({ type }) => type === "TASK_ROLLBACK_COMPLETED" || type === "TASK_ROLLBACK_FAILED",
    );
    if (!done)
      return [
        `${task_call_id} was under way, and was cancelled at event ${outcome.seq} without its rollback`,
      ];
    if (own.some(({ part }) => part === "rollback")) return [];
    return [`${task_call_id} has event ${done.seq} ${done.type}, and its rollback never ran`];
  });
}

function hasRollback({ name, kind }: RecordedCall): boolean {
  if (kind !== null) return false;
  return name === INNER_TASK || (STEP_TASKS[name as StepTask]?.hasRollback ?? false);
}

/** What an execution started is cancelled with it, unless it had ended before or is to outlive it. */
function survivors({ executions, commits }: Evidence): readonly Violation[] {
  const place = new Map<string, number>();
  for (const [i, { execution_id, events }] of commits.entries()) {
    for (const { type } of events) place.set(`${execution_id} ${type}`, i);
  }
  return executions.flatMap(({ row }): Violation[] => {
    const { execution_id, parent_id, detached, state } = row;
    const cancelled = place.get(`${parent_id} WORKFLOW_CANCELLING`);
    if (cancelled === undefined || detached || place.has(`${execution_id} WORKFLOW_CANCELLING`)) {
      return [];
    }
    const ended = place.get(`${execution_id} WORKFLOW_${state}`);
    if (ended !== undefined && ended < cancelled) return [];
    const message = `its parent ${parent_id} was cancelled, and it was not: it is ${state}`;
    return [{ invariant: "I13", execution_id, message }];
  });
}

/** A cancel that was acknowledged is in the log. */
function unheard(evidence: Evidence): readonly Violation[] {
  const logs = new Map(evidence.executions.map(({ row, log }) => [row.execution_id, log]));
  return evidence.requests.flatMap(({ asked, answer, client }): Violation[] => {
    if (asked.kind !== "cancel" || answer.kind !== "done") return [];
    const { execution_id } = asked;
    const log = logs.get(execution_id);
    if (!log || log.some(({ event }) => event.type === "WORKFLOW_CANCELLING")) return [];
    const message = `its cancel was acknowledged to ${client}, and its log does not have it`;
    return [{ invariant: "I13", execution_id, message }];
  });
}
