import { isDeepStrictEqual } from "node:util";
import type { BodyEntry, Evidence, ExecutionAtRest, Fault } from "../evidence.ts";
import { INNER_TASK, STEP_TASKS, type StepTask } from "../programs/program.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { callsOf, copiedUpTo, type RecordedCall, storedForm } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/**
 * How long something broken may show later: a worker that went silent is given up after its lease,
 * one that was cut off learns of it when it comes back.
 */
const AFTERMATH_MS = 120_000;

/**
 * I5: what is recorded did run; a function runs once per attempt, and once more only where something
 * was broken between the two.
 */
export function attributableRuns(
  evidence: Evidence,
  excuse: Excuse = uncounted,
): readonly Violation[] {
  const entries = Map.groupBy(evidence.bodies, ({ execution_id }) => execution_id);
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution.row;
    const own = entries.get(execution_id) ?? [];
    const messages = [
      ...repeats(own, evidence, excuse),
      ...unrun(execution, own, { evidence, excuse }),
    ];
    return messages.map((message) => ({ invariant: "I5" as const, execution_id, message }));
  });
}

function repeats(entries: readonly BodyEntry[], evidence: Evidence, excuse: Excuse): string[] {
  const runs = Map.groupBy(
    entries,
    (one) => `${one.part} of ${one.task_call_id}, attempt ${one.attempt}`,
  );
  return [...runs].flatMap(([what, own]) => {
    const most = attemptsOf(own[0]?.task);
    const attempt = own[0]?.attempt ?? 1;
    const beyond = attempt > most ? [`${what} was entered; its task makes ${most}`] : [];
    return [
      ...beyond,
      ...own.flatMap((again, i) => {
        const before = own[i - 1];
        if (!before) return [];
        const lives = `by ${before.worker} under generation ${before.generation} at ${before.at}, by ${again.worker} under ${again.generation} at ${again.at}`;
        if (again.generation === before.generation) {
          return [`${what} was entered twice under one generation: ${lives}`];
        }
        if (hasWaitedInside(evidence, before, again) && excuse("parked inside its function")) {
          return [];
        }
        if (wasHeldInside(evidence, before, again) && excuse("held inside its function")) {
          return [];
        }
        if (wasBroken(evidence, before, again) && excuse("run again after a fault")) return [];
        return [`${what} was entered again although nothing was broken: ${lives}`];
      }),
    ];
  });
}

function attemptsOf(task: string | undefined): number {
  if (task === undefined || task === INNER_TASK) return 1;
  return STEP_TASKS[task as StepTask]?.attempts ?? Number.POSITIVE_INFINITY;
}

function wasBroken({ faults }: Evidence, before: BodyEntry, again: BodyEntry): boolean {
  return faults.some(
    ({ kind, at, until, worker }) =>
      ((worker === null && !OF_ONE_MESSAGE.has(kind)) ||
        worker === before.worker ||
        worker === again.worker) &&
      at <= again.at &&
      (until ?? at) + AFTERMATH_MS >= before.at,
  );
}

/** Whether the execution was parked between the two, by a call that the function itself had made. */
function hasWaitedInside({ commits }: Evidence, before: BodyEntry, again: BodyEntry): boolean {
  const { execution_id, task_call_id } = before;
  return commits.some(
    ({ execution_id: id, at, row }) =>
      id === execution_id &&
      before.at <= at &&
      at <= again.at &&
      row.session === null &&
      row.waits.some((wait) => wait.task_call_id.startsWith(`${task_call_id}/`)),
  );
}

/** Whether its worker was told between the two that nothing of the execution is to begin. */
function wasHeldInside({ rights }: Evidence, before: BodyEntry, again: BodyEntry): boolean {
  return (
    before.end?.how !== "returned" &&
    rights.some(
      ({ at, hold, process, execution_id, generation }) =>
        hold &&
        at <= again.at &&
        process === before.process &&
        execution_id === before.execution_id &&
        generation === before.generation,
    )
  );
}

/** Without a worker they happened to a client. */
const OF_ONE_MESSAGE: ReadonlySet<Fault["kind"]> = new Set(["drop", "duplicate", "delay"]);

/** A recorded output is what a function returned. */
function unrun(
  execution: ExecutionAtRest,
  entries: readonly BodyEntry[],
  { evidence, excuse }: { readonly evidence: Evidence; readonly excuse: Excuse },
): string[] {
  const copied = copiedUpTo(execution);
  const returned = Map.groupBy(
    entries.filter(({ part, end }) => part !== "rollback" && end?.how === "returned"),
    ({ task_call_id }) => task_call_id,
  );
  const isOurs = ({ kind, outcome }: RecordedCall) =>
    kind === null && outcome?.type === "TASK_COMPLETED" && outcome.seq > copied;
  return [...callsOf(execution).values()].filter(isOurs).flatMap(({ task_call_id, outcome }) => {
    const ends = returned.get(task_call_id) ?? [];
    const place = `${task_call_id} is recorded at event ${outcome?.seq}`;
    if (ends.length === 0) {
      if (copied > 0 && excuse("recorded in the source of a fork")) return [];
      return [`${place}, and none of its functions returned`];
    }
    const value = storedForm(outcome?.value ?? null, evidence);
    if (ends.some(({ end }) => isDeepStrictEqual(end?.value, value))) return [];
    return [`${place} with another value than its function returned`];
  });
}
