import { isOutcome, type RecordedEvent } from "@engine/contract";
import type { BodyRun } from "./body-lines.ts";

/** A process that was ended, and when it could still have done something. */
export interface Kill {
  readonly target: "worker" | "server";
  readonly pid: number;
  readonly from: number;
  readonly to: number;
}

/** When a process was ended, or nobody heard of it for so long that it counted as lost. */
export type Absence = Pick<Kill, "pid" | "from" | "to">;

/** When a process was not answered for so long, of the times at which it was. */
export function gapsOf(pid: number, answered: readonly number[], ms: number): Absence[] {
  return answered.flatMap((to, i) => {
    const from = answered[i - 1] ?? to;
    return to - from >= ms ? [{ pid, from, to }] : [];
  });
}

const TERMINAL = new Set(["WORKFLOW_COMPLETED", "WORKFLOW_FAILED", "WORKFLOW_CANCELLED"]);

/**
 * What is wrong with a log that ended, whatever happened on the way; empty when nothing is.
 *
 * @param copied Of a fork: how many of its events are those of its source.
 */
export function logViolations(log: readonly RecordedEvent[], copied = 0): string[] {
  const wrong: string[] = [];
  log.forEach((event, i) => {
    if (event.seq !== i + 1) wrong.push(`event ${i + 1} has seq ${event.seq}`);
    const before = log[i - 1];
    if (before && before.time > event.time) wrong.push(`time runs backwards at ${event.seq}`);
  });

  const ends = log.filter((event) => TERMINAL.has(event.type));
  if (ends.length !== 1 || ends[0] !== log.at(-1)) wrong.push(`terminal events: ${types(ends)}`);
  for (const type of ["WORKFLOW_CREATED", "WORKFLOW_STARTED"]) {
    const found = log.filter((event) => event.type === type).length;
    if (found !== 1) wrong.push(`${found} ${type}`);
  }

  const generations = log
    .slice(copied)
    .filter((event) => event.type === "WORKFLOW_CLAIMED")
    .map((event) => (event.value as { generation: number }).generation);
  generations.forEach((generation, i) => {
    if (generation <= (generations[i - 1] ?? 0)) wrong.push(`generations ${generations}`);
  });

  for (const [call, events] of callsOf(log)) {
    const starts = events.filter((event) => event.type === "TASK_STARTED");
    const outcomes = events.filter((event) => isOutcome(event.type));
    if (starts.length !== 1) wrong.push(`${call}: ${starts.length} TASK_STARTED`);
    if (outcomes.length !== 1) wrong.push(`${call}: outcomes ${types(outcomes)}`);
    if (outcomes[0] && starts[0] && outcomes[0].seq < starts[0].seq) {
      wrong.push(`${call}: its outcome comes before its start`);
    }
  }
  return wrong;
}

/**
 * What is wrong with how often one call's body ran. A body may run again only because the process
 * that ran it was killed, or was out of touch, before the outcome was recorded: one loss, one more run.
 */
export function bodyViolations(
  runs: readonly BodyRun[],
  outcome: RecordedEvent | undefined,
  absences: readonly Absence[],
): string[] {
  const wrong: string[] = [];
  if (!outcome) return [`its body ran, the log has no outcome`];
  const recorded = Date.parse(outcome.recorded_at);
  runs.forEach((run, i) => {
    if (run.attempt !== 1) wrong.push(`attempt ${run.attempt}, though no attempt ever failed`);
    if (run.at > recorded) wrong.push(`a body began ${run.at - recorded} ms after its outcome`);
    const before = runs[i - 1];
    if (!before) return;
    const cause = absences.find(
      ({ pid, from, to }) => pid === before.pid && from <= run.at && to >= before.at,
    );
    if (!cause) wrong.push(`ran again in ${run.pid} while ${before.pid}, which had it, lived`);
  });
  return wrong;
}

/** Whether the body ran in the process that was ended, and its outcome was not recorded then. */
export function wasLost(kill: Kill, runs: readonly BodyRun[], outcome: RecordedEvent): boolean {
  const ranThere = runs.some((run) => run.pid === kill.pid && run.at <= kill.to);
  return ranThere && Date.parse(outcome.recorded_at) >= kill.from;
}

/** The events of each call, by its id. */
export function callsOf(log: readonly RecordedEvent[]): Map<string, RecordedEvent[]> {
  const calls = new Map<string, RecordedEvent[]>();
  for (const event of log) {
    if (!event.type.startsWith("TASK_")) continue;
    calls.set(event.source_id, [...(calls.get(event.source_id) ?? []), event]);
  }
  return calls;
}

function types(events: readonly RecordedEvent[]): string {
  return events.map((event) => event.type).join(", ") || "none";
}
