import { isDeepStrictEqual } from "node:util";
import { type Event, encode, parseEventTime, parseInstant } from "@engine/contract";
import type { BodyEntry, Commit, Evidence, ExecutionAtRest } from "../evidence.ts";
import {
  callsOf,
  commitOf,
  commitsByExecution,
  copiedUpTo,
  fieldsOf,
  type RecordedCall,
} from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** How late the server may be once everything is up: its look around comes every 15 s. */
const LATE_MS = 40_000;

/** I10: what waits for a moment goes on no earlier, once, and soon after it. */
export function timers(evidence: Evidence): readonly Violation[] {
  const commits = commitsByExecution(evidence);
  const entries = Map.groupBy(evidence.bodies, ({ execution_id }) => execution_id);
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution.row;
    const own = commits.get(execution_id) ?? [];
    const messages = [
      ...waits(execution).flatMap((wait) => firedWrongly(wait, own, evidence)),
      ...retries(execution, entries.get(execution_id) ?? [], own, evidence),
      ...timedOut(execution, own),
    ];
    return messages.map((message) => ({ invariant: "I10" as const, execution_id, message }));
  });
}

interface TimedWait {
  readonly what: string;
  readonly until: number;
  readonly end: Event;
  /** A short sleep is ended by the worker that runs it, by its clock. */
  readonly isInline: boolean;
}

/** Waits of a log that ended because their time had come. */
function waits(execution: ExecutionAtRest): readonly TimedWait[] {
  const copied = copiedUpTo(execution);
  return [...callsOf(execution).values()].flatMap((call): TimedWait[] => {
    const { task_call_id, kind, start, outcome } = call;
    if (!start || outcome?.type !== "TASK_COMPLETED" || outcome.seq <= copied) return [];
    if (kind !== "sleep" && kind !== "signal" && kind !== "pause") return [];
    const resumed = call.events.findLast(({ type }) => type === "TASK_RESUMED");
    if (kind === "pause" && (!resumed || fieldsOf(resumed)["cause"] !== "timer")) return [];
    if (kind === "signal" && !isNothing(outcome)) return [];
    const from = call.events.findLast(({ type }) => type === "TASK_PAUSED") ?? start;
    const until = fieldsOf(from)["until"];
    if (typeof until !== "string") return [];
    const isInline = start.meta?.["inline"] === true;
    return [{ what: task_call_id, until: parseInstant(until), end: outcome, isInline }];
  });
}

/** Whether a wait gave undefined: null is a value. */
export function isNothing({ value }: Pick<Event, "value">): boolean {
  return isDeepStrictEqual(value, encode(undefined, "value"));
}

function firedWrongly(
  { what, until, end, isInline }: TimedWait,
  commits: readonly Commit[],
  { calm_at, faults }: Evidence,
): string[] {
  const commit = commitOf(commits, end.seq);
  if (isInline) {
    const time = parseEventTime(end.time);
    // Its clock was moved meanwhile: what it measured was right all the same.
    if (time >= until || faults.some(({ kind }) => kind === "clock_jump")) return [];
    return [`${what} was to last until ${until}, and ended at ${time} (event ${end.seq})`];
  }
  if (!commit) return [];
  const { clock, at } = commit;
  if (latestClock(commit) < until) {
    return [
      `${what} was to last until ${until}; event ${end.seq} ended it when the server's clock said ${clock}`,
    ];
  }
  const due = Math.max(until, calm_at + clock - at);
  if (clock - due <= LATE_MS) return [];
  return [
    `${what} was due at ${until}; event ${end.seq} ended it ${clock - due} ms after that, with nothing broken`,
  ];
}

/** An attempt does not begin before its delay is over: by the server that woke it, or by its worker. */
function retries(
  execution: ExecutionAtRest,
  entries: readonly BodyEntry[],
  commits: readonly Commit[],
  { faults }: Evidence,
): string[] {
  const calls = callsOf(execution);
  return entries.flatMap((entry) => {
    const { part, task_call_id, attempt, clock, at, worker } = entry;
    if (part !== "run" || attempt === 1) return [];
    const not_before = delayOf(calls.get(task_call_id), attempt);
    if (not_before === undefined || clock >= not_before) return [];
    if (faults.some((fault) => fault.kind === "clock_jump" && isOf(fault.worker, worker)))
      return [];
    const isWoken = commits.some(
      (commit) =>
        commit.at <= at && latestClock(commit) >= not_before && wakes(commit, task_call_id),
    );
    if (isWoken) return [];
    return [
      `attempt ${attempt} of ${task_call_id} was to begin at ${not_before}, and began when the clock of ${worker} said ${clock}`,
    ];
  });
}

function delayOf(call: RecordedCall | undefined, attempt: number): number | undefined {
  const begun = call?.events.find(
    (event) => event.type === "TASK_RETRY_STARTED" && fieldsOf(event)["attempt"] === attempt,
  );
  const not_before = begun && fieldsOf(begun)["not_before"];
  return typeof not_before === "string" ? parseInstant(not_before) : undefined;
}

function wakes({ events }: Commit, task_call_id: string): boolean {
  return events.some(
    ({ type, meta }) => type === "WORKFLOW_RESUMING" && meta?.["task_call_id"] === task_call_id,
  );
}

/** The latest that a server's clock has shown to whoever decided. */
function latestClock({ clock, decided_clock, at, asked_at }: Commit): number {
  // Clocks show whole milliseconds.
  return Math.max(clock + Math.ceil(at - asked_at), Math.ceil(decided_clock));
}

function isOf(worker: string | null, one: string): boolean {
  return worker === null || worker === one;
}

/** A workflow's timeout counts from its start. */
function timedOut({ row, log }: ExecutionAtRest, commits: readonly Commit[]): string[] {
  const { timeout_ms, started_at } = row;
  const begun = log.find(
    ({ event }) => event.type === "WORKFLOW_CANCELLING" && event.meta?.["cause"] === "timeout",
  );
  if (!begun) return [];
  const commit = commitOf(commits, begun.event.seq);
  if (timeout_ms === null || started_at === null) {
    return [`event ${begun.event.seq} ends it for its timeout, and it has none`];
  }
  if (!commit || latestClock(commit) >= started_at + timeout_ms) return [];
  return [
    `its timeout was due at ${started_at + timeout_ms}; event ${begun.event.seq} came at ${commit.clock}`,
  ];
}
