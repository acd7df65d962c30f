import { isDeepStrictEqual } from "node:util";
import { type Event, encode, parseEventTime, parseInstant } from "@engine/contract";
import type { BodyEntry, Commit, Evidence, ExecutionAtRest } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
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
export const LATE_MS = 40_000;

/** I10: what waits for a moment goes on no earlier, once, and soon after it. */
export function timers(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  const commits = commitsByExecution(evidence);
  const entries = Map.groupBy(evidence.bodies, ({ execution_id }) => execution_id);
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution.row;
    const own = commits.get(execution_id) ?? [];
    const messages = [
      ...waits(execution).flatMap((wait) => firedWrongly(wait, own, { evidence, excuse })),
      ...retries(execution, entries.get(execution_id) ?? [], { commits: own, evidence, excuse }),
      ...timedOut(execution, own),
    ];
    return messages.map((message) => ({ invariant: "I10" as const, execution_id, message }));
  });
}

interface TimedWait {
  readonly what: string;
  readonly until: number;
  readonly end: Event;
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
    return [{ what: task_call_id, until: parseInstant(until), end: outcome }];
  });
}

/** Whether a wait gave undefined: null is a value. */
export function isNothing({ value }: Pick<Event, "value">): boolean {
  return isDeepStrictEqual(value, encode(undefined, "value"));
}

interface Judging {
  readonly evidence: Evidence;
  readonly excuse: Excuse;
}

/**
 * Whoever runs an execution ends its waits by its clock, which the outcome then shows; what is parked
 * is woken by a server, by that one's.
 */
function firedWrongly(
  { what, until, end }: TimedWait,
  commits: readonly Commit[],
  { evidence, excuse }: Judging,
): string[] {
  const commit = commitOf(commits, end.seq);
  if (!commit) return [];
  const { clock, at } = commit;
  const isEndedByWorker = isOfWorker(end, commit, evidence);
  if (isEndedByWorker) {
    const time = parseEventTime(end.time);
    if (time < until && !(isAnySet(evidence) && excuse("worker's clock was set"))) {
      return [`${what} was to last until ${until}, and ended at ${time} (event ${end.seq})`];
    }
  } else if (latestClock(commit) < until) {
    return [
      `${what} was to last until ${until}; event ${end.seq} ended it when the server's clock said ${clock}`,
    ];
  }
  // A worker ends what it has; how long it takes until one has it is for another judge.
  const from = isEndedByWorker ? claimedBefore(end, commits) : until;
  const due = Math.max(until, from, evidence.calm_at + clock - at);
  if (clock - due <= LATE_MS) return [];
  return [
    `${what} was due at ${until}; event ${end.seq} ended it ${clock - due} ms after that, with nothing broken`,
  ];
}

/** Whether a worker wrote it, also where the store failed to say that it was written. */
function isOfWorker({ seq, time }: Event, { execution_id }: Commit, { writes }: Evidence): boolean {
  return writes.some(
    (write) =>
      write.execution_id === execution_id &&
      write.kind === "checkpoint" &&
      write.base_seq < seq &&
      seq <= write.base_seq + write.count &&
      (write.accepted || write.times[seq - write.base_seq - 1] === time),
  );
}

/** When the last claim before an event was written. */
function claimedBefore({ seq }: Event, commits: readonly Commit[]): number {
  const claim = commits.findLast(({ events }) =>
    events.some((event) => event.type === "WORKFLOW_CLAIMED" && event.seq < seq),
  );
  return claim?.clock ?? 0;
}

function isAnySet({ faults }: Evidence): boolean {
  return faults.some(({ kind }) => kind === "clock_jump");
}

/** An attempt does not begin before its delay is over: by the server that woke it, or by its worker. */
function retries(
  execution: ExecutionAtRest,
  entries: readonly BodyEntry[],
  { commits, evidence, excuse }: Judging & { readonly commits: readonly Commit[] },
): string[] {
  const calls = callsOf(execution);
  const { faults } = evidence;
  return entries.flatMap((entry) => {
    const { part, task_call_id, attempt, clock, latest_clock, at, worker } = entry;
    if (part !== "run" || attempt === 1) return [];
    const not_before = delayOf(calls.get(task_call_id), attempt);
    if (not_before === undefined || clock >= not_before) return [];
    const isWoken = commits.some(
      (commit) =>
        commit.at <= at && latestClock(commit) >= not_before && wakes(commit, task_call_id),
    );
    if (isWoken && excuse("woken by a server")) return [];
    const isSet = faults.some((fault) => fault.kind === "clock_jump" && isOf(fault.worker, worker));
    if (isSet && excuse("worker's clock was set")) return [];
    if (latest_clock >= not_before && excuse("another server's clock is behind")) return [];
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
