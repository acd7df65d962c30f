import { isOutcome, type RecordedEvent } from "@engine/contract";
import { callsOf } from "../kill/violations.ts";
import type { Note } from "./did.ts";

/** The ends of processes are seen a little after they have come. */
const SEEN_LATE_MS = 500;

/** Who has a runner's process once its worker is dead; it is about to end itself. */
const ORPHANED = 1;

/** When a process has ended, by its id. */
export type Ends = ReadonlyMap<number, number>;

/**
 * What is wrong with the notes of one execution. A task runs at least once; it runs again in the same
 * attempt only after the process that had it has ended, and not once its outcome is recorded.
 */
export function noteViolations(
  notes: readonly Note[],
  log: readonly RecordedEvent[],
  ends: Ends,
): readonly string[] {
  const wrong: string[] = [];
  const calls = callsOf(log);
  for (const runs of Map.groupBy(notes, keyOf).values()) {
    const [{ call, note }] = runs as [Note, ...Note[]];
    const waitsInside = log.some(
      ({ source_id, kind }) => source_id.startsWith(`${call}/`) && kind !== null,
    );
    const isRollback = calls.get(call)?.some(({ type }) => type === "TASK_ROLLBACK_STARTED");
    const outcome = calls.get(call)?.find(({ type }) => isOutcome(type));
    runs.forEach((run, i) => {
      const before = runs[i - 1];
      // A task that waits inside of its function begins again when the wait has ended.
      if (before && !waitsInside) {
        const end = ends.get(before.pid) ?? ends.get(before.ppid);
        const isOrphan = before.ppid === ORPHANED;
        const isLost = isOrphan || (end !== undefined && end <= run.at + SEEN_LATE_MS);
        if (!isLost)
          wrong.push(`${call}: "${note}" again, while ${before.pid}, which had it, lived`);
      }
      // What is rolled back after a cancel is so after its outcome.
      const late = outcome && !isRollback && run.at > Date.parse(outcome.recorded_at);
      if (late) wrong.push(`${call}: "${note}" after the outcome was recorded`);
    });
  }
  return wrong;
}

/** Each note of an attempt once, in the order in which it was first written. */
export function distinctNotes(notes: readonly Note[]): readonly string[] {
  const first = new Map<string, Note>();
  for (const note of notes.toSorted((a, b) => a.at - b.at)) {
    if (!first.has(keyOf(note))) first.set(keyOf(note), note);
  }
  return [...first.values()].map(({ note }) => note);
}

function keyOf({ execution, call, attempt, note }: Note): string {
  return JSON.stringify([execution, call, attempt, note]);
}
