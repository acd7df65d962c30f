/** How waits end: by somebody's answer, or by their time. */

import { encodedFailure, type Failure } from "../errors/failure.ts";
import { isParked, type OpenWait } from "../executions/execution-row.ts";
import type { NewEvent } from "../log/event.ts";
import { type Encoded, encode, peek } from "../values/value.ts";
import type { Draft } from "./draft.ts";

/** Why a parked execution goes on: `cause` of WORKFLOW_RESUMING. */
export type ResumeCause =
  | "resume"
  | "approval"
  | "timer"
  | "child"
  | "completion"
  | "signal"
  | "fork"
  | "recover";

export interface WaitAnswer {
  readonly cause: ResumeCause;
  /** What the wait gives, or why it fails. */
  readonly output?: Encoded;
  readonly failure?: Failure;
  readonly by?: string | null;
}

/** What a wait gives that its time has ended, stored. */
export const NOTHING: Encoded = encode(undefined, "output");

/** The call a wait belongs to, as its events name it. */
function callOf(wait: OpenWait): Pick<NewEvent, "source_id" | "name" | "kind"> {
  const name = wait.kind === "child" ? "call" : wait.kind;
  // Approvals and retry delays belong to a task of the user's: they never end by an answer here.
  return { source_id: wait.task_call_id, name, kind: name as NewEvent["kind"] };
}

/** Records the outcome of an open wait; a parked execution becomes runnable by it (row 6). */
export function answerWait(draft: Draft, wait: OpenWait, answer: WaitAnswer): void {
  const { cause, output = null, failure, by = null } = answer;
  const call = callOf(wait);
  if (wait.kind === "pause") {
    const value = encode({ name: wait.name, input: peek(output), cause }, "value");
    draft.write({ ...call, type: "TASK_RESUMED", value });
  }
  if (failure) draft.write({ ...call, type: "TASK_FAILED", value: encodedFailure(failure) });
  else draft.write({ ...call, type: "TASK_COMPLETED", value: output });
  makeRunnable(draft, { cause, task_call_id: wait.task_call_id, by, input: output });
}

/** A parked execution goes back into the queue; nothing happens to an execution that runs. */
function makeRunnable(
  draft: Draft,
  of: { cause: ResumeCause; task_call_id: string; by: string | null; input: Encoded },
): void {
  if (!isParked(draft.row)) return;
  const { cause, task_call_id, by } = of;
  const value = cause === "resume" ? of.input : null;
  const meta = { cause, task_call_id, by };
  // Retry delays belong to the worker: it tells of the remaining ones when the execution parks again.
  const waits = draft.row.waits.filter(({ kind }) => kind !== "retry");
  draft.write({ type: "WORKFLOW_RESUMING", value, meta }).set({ waits, queued_at: draft.now });
}

/**
 * Ends every wait whose time has come, in the order of their instants. Only a parked execution's waits
 * are ended here: a copy that runs, or is about to, ends its waits by itself, beside shorter waits
 * that are on no row (decision 0019).
 *
 * @returns Whether a wait was ended.
 */
export function endDueWaits(draft: Draft): boolean {
  if (!isParked(draft.row)) return false;
  const due = draft.row.waits
    .filter(({ until }) => until !== undefined && until <= draft.now)
    .sort((a, b) => (a.until ?? 0) - (b.until ?? 0));
  for (const wait of due) {
    if (wait.kind !== "retry") answerWait(draft, wait, { cause: "timer", output: NOTHING });
  }
  const retry = due.find(({ kind }) => kind === "retry");
  if (retry) {
    // The next attempt is the worker's to begin: there is no outcome to record.
    draft.set({ waits: draft.row.waits.filter((wait) => !due.includes(wait)) });
    const { task_call_id } = retry;
    makeRunnable(draft, { cause: "timer", task_call_id, by: null, input: null });
  }
  return due.length > 0;
}
