/** All that judges let pass although it looks wrong, each with its reason. */
import type { Death, Entry, Evidence, ExecutionSeen } from "../evidence.ts";
import { committedAt, copiedUpTo, type LoggedCall } from "./logged-calls.ts";

/** How late the end of a process may be seen on a busy machine. */
const SEEN_LATE_MS = 2_000;
const WAITS: ReadonlySet<string> = new Set(["sleep", "pause", "signal", "call"]);

/** What is told as its worker's by a process that comes up just as that dies. */
const ORPHANED = 1;

/** A function runs again: its process was killed, and its end was not recorded (I5). */
export function diedBefore(before: Entry, again: Entry, deaths: readonly Death[]): boolean {
  if (before.pid === ORPHANED) return true;
  return deaths.some(({ pid, at }) => pid === before.pid && at <= again.at + SEEN_LATE_MS);
}

/**
 * A function runs again: it has waits of its own, and its execution was claimed anew between the two, so
 * that it had to come to its wait once more (EXE-27).
 */
export function waitedItself(before: Entry, again: Entry, { history }: ExecutionSeen): boolean {
  const within = `${before.task_call_id}/`;
  const hasWaited = history.events.some(
    ({ type, source_id, kind }) =>
      type === "TASK_STARTED" && source_id.startsWith(within) && WAITS.has(kind ?? ""),
  );
  const isClaimedBetween = history.events.some((event) => {
    const at = committedAt(event);
    return event.type === "WORKFLOW_CLAIMED" && at >= before.at && at <= again.at;
  });
  return hasWaited && isClaimedBetween;
}

/**
 * The log does not hold a call whose function was entered: its worker was killed before it could say so.
 * Who takes over makes the same call, unless the execution was ended from outside before it could, or the
 * call was one of a function, which runs anew or not at all.
 */
export function lostWithItsWorker(
  { pid, told }: Entry,
  { history }: ExecutionSeen,
  { deaths }: Evidence,
): boolean {
  const isDead = deaths.some((death) => death.pid === pid);
  return isDead && (told === null || history.execution.state !== "COMPLETED");
}

/** No function returned what is recorded: the last line of a process that is killed may be lost. */
export function lastLineIsLost(entries: readonly Entry[], { deaths }: Evidence): boolean {
  return entries.some(
    ({ pid, exit }) => exit === null && deaths.some((death) => death.pid === pid),
  );
}

/** No function of a fork returned what is recorded: what ended the call was recorded before the cut. */
export function beganBeforeTheCut({ events }: LoggedCall, { history }: ExecutionSeen): boolean {
  const copied = copiedUpTo(history);
  return events.some(({ seq }) => seq <= copied);
}

/**
 * A sleep ends late: it is one of a task's function, which began anew with whoever took the execution
 * over, and others ended before it had come to its wait again.
 */
export function beganAnew(
  { task_call_id, start, outcome }: LoggedCall,
  { history }: Pick<ExecutionSeen, "history">,
): boolean {
  const [from, to] = [start?.seq ?? 0, outcome?.seq ?? 0];
  const kinds = new Map(history.events.map(({ source_id, kind }) => [source_id, kind]));
  const places = task_call_id.split("/");
  const above = places.slice(1).map((_, i) => places.slice(0, i + 1).join("/"));
  const isOfTask = above.some((id) => kinds.get(id) === null);
  return (
    isOfTask &&
    history.events.some(({ type, seq }) => type === "WORKFLOW_CLAIMED" && seq > from && seq < to)
  );
}
