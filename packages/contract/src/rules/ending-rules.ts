/**
 * How executions are ended from outside, and what an end means for others: the parent that waits
 * for it, the children it leaves, the executions that paused until it is over.
 */

import { EngineError } from "../errors/errors.ts";
import { encodedFailure, engineFailure, type Failure } from "../errors/failure.ts";
import { isTerminal } from "../executions/execution.ts";
import {
  type CancelCause,
  type ExecutionRow,
  isParked,
  type Watcher,
} from "../executions/execution-row.ts";
import { signalsDropped } from "../executions/kept-signals.ts";
import { isBuiltInCall } from "../values/name.ts";
import type { Append, Change, Effect } from "./change.ts";
import { Draft } from "./draft.ts";
import { answerWait, NOTHING } from "./wait-rules.ts";

/** A cancel, with what its decision depends on. */
export interface Cancel {
  readonly cause: CancelCause;
  readonly by: string | null;
  readonly reason?: string | undefined;
  /** Milliseconds a worker has to unwind it before it ends without. */
  readonly cancel_timeout_ms: number;
  /** Whether a worker is connected that could have an execution: this one, or a child of it. */
  readonly hasWorker: (row: ExecutionRow) => boolean;
  readonly now: number;
}

/**
 * Decides on a cancel (EXE-17 rows 12 to 14, EXE-21). Undefined when it is being cancelled already.
 * Children that were not started with `detach` are cancelled in the same transaction.
 */
export function decideCancel(row: ExecutionRow, cancel: Cancel): Append | EngineError | undefined {
  const { state, execution_id } = row;
  if (isTerminal(state)) return finished(row, "cannot be cancelled");
  if (state === "CANCELLING") return undefined;
  const { cause, by, reason, now } = cancel;
  const why = { cause, ...(reason !== undefined && { reason }) };
  const draft = new Draft(row, now).write({ type: "WORKFLOW_CANCELLING", meta: { ...why, by } });
  draft.set({ cancelling: { ...why, by: now + cancel.cancel_timeout_ms } });
  draft.effect({
    kind: "children",
    parent_id: execution_id,
    decide: cancelChild({ ...cancel, cause: "parent" }),
  });
  const neverRan = row.session === null && row.started_at === null;
  if (neverRan || endsAtOnce(row, cancel)) writeEnd(draft, cause);
  else if (row.session === null) draft.set({ queued_at: now });
  return concluded(draft, cancel.cancel_timeout_ms);
}

/** The refusal of what an execution that has ended can no longer be asked for. */
export function finished({ execution_id, state }: ExecutionRow, what: string): EngineError {
  const message = `execution ${execution_id} is ${state} and ${what}`;
  return new EngineError("execution_finished", message, { details: { state } });
}

/** Cancels a child with its parent or its call, unless it is to outlive them. */
function cancelChild(cancel: Cancel) {
  return (child: ExecutionRow | undefined): Change | undefined => {
    if (!child || child.detached) return undefined;
    const verdict = decideCancel(child, { ...cancel, reason: undefined });
    return verdict instanceof EngineError ? undefined : verdict;
  };
}

/** What cancels the child of a waiting `call` that was given up (EXE-56). */
export function cancelChildOf(execution_id: string, { now, cancel_timeout_ms }: EndTerms): Effect {
  const by = { cause: "sibling", by: null, hasWorker: () => true } as const;
  return { kind: "change", execution_id, decide: cancelChild({ ...by, now, cancel_timeout_ms }) };
}

/**
 * Parked with nothing but built-in calls open, and no worker there that could replay them (row 14).
 * A local run that no process holds has nothing to unwind it (EXE-15).
 */
function endsAtOnce(row: ExecutionRow, { hasWorker }: Cancel): boolean {
  if (row.session === null && row.version === null) return true;
  if (!isParked(row) || !row.waits.every((wait) => isBuiltIn(wait.task_call_id))) return false;
  return !hasWorker(row);
}

function isBuiltIn(task_call_id: string): boolean {
  return task_call_id.split("/").every((part) => isBuiltInCall(part.slice(0, part.indexOf("~"))));
}

/** The end of an execution that no worker unwinds: its open calls, innermost first, then itself. */
function writeEnd(draft: Draft, cause: CancelCause): void {
  warnOfSignals(draft);
  const ids = new Set<string>();
  for (const { task_call_id } of draft.row.waits) {
    const parts = task_call_id.split("/");
    for (let n = parts.length; n > 0; n--) ids.add(parts.slice(0, n).join("/"));
  }
  const innermostFirst = [...ids].sort((a, b) => b.split("/").length - a.split("/").length);
  for (const source_id of innermostFirst) {
    const name = source_id.slice(source_id.lastIndexOf("/") + 1, source_id.lastIndexOf("~"));
    const kind = isBuiltInCall(name) ? name : null;
    draft.write({ type: "TASK_CANCELLED", source_id, name, kind });
  }
  if (cause !== "timeout") draft.write({ type: "WORKFLOW_CANCELLED", meta: { cause } });
  else draft.write({ type: "WORKFLOW_FAILED", value: encodedFailure(timeoutFailure(draft.row)) });
}

/** What an execution fails with that took longer than its workflow's `timeout` (EXE-44). */
export function timeoutFailure({
  workflow,
  timeout_ms,
}: Pick<ExecutionRow, "workflow" | "timeout_ms">): Failure {
  const message = `workflow ${workflow} took longer than its timeout of ${timeout_ms}ms`;
  return engineFailure("WorkflowTimeoutError", message);
}

/** What ends an execution by the engine's own decision, with the time its open children get for theirs. */
export type EndTerms = Pick<Cancel, "now" | "cancel_timeout_ms">;

/** Ends an execution that no worker unwound in time, and says so in its log (row 14). */
export function endUnwound(row: ExecutionRow, { now, cancel_timeout_ms }: EndTerms): Append {
  const draft = new Draft(row, now);
  const message =
    "no worker unwound the cancelled execution in time: rollbacks of its open calls may not have run";
  draft.write({ type: "WORKFLOW_WARNING", value: { code: "not_unwound", message } });
  writeEnd(draft, row.cancelling?.cause ?? "request");
  return concluded(draft, cancel_timeout_ms);
}

/** Ends an execution as failed, by the engine rather than by its own code (rows 10 and 11). */
export function failExecution(
  row: ExecutionRow,
  failure: Failure,
  { now, cancel_timeout_ms }: EndTerms,
): Append {
  const draft = new Draft(row, now);
  warnOfSignals(draft);
  draft.write({ type: "WORKFLOW_FAILED", value: encodedFailure(failure) });
  return concluded(draft, cancel_timeout_ms);
}

/** Signals that nobody took are gone with the execution: the log says so (EXE-53). */
function warnOfSignals(draft: Draft): void {
  const message = signalsDropped(draft.row.signals);
  if (message === undefined) return;
  draft.write({ type: "WORKFLOW_WARNING", value: { code: "signal_dropped", message } });
}

/**
 * The finished change; a change that ends the execution tells everybody who waits for the end.
 *
 * @param cancel_timeout_ms For children that the execution leaves behind and that are cancelled with it.
 */
export function concluded(draft: Draft, cancel_timeout_ms: number): Append {
  const { row, before, now } = draft;
  if (!isTerminal(row.state) || isTerminal(before.state)) return draft.done();
  draft.set({ worker: null, session: null, watchers: [] }).dropSignals();
  // The record of a cancelled execution goes on to say why.
  if (row.state !== "CANCELLED") draft.set({ cancelling: null });
  if (before.session !== null) {
    draft.set({ last_worker: before.worker, last_session: before.session });
  }
  for (const { kind, execution_id } of before.waits) {
    // The call was left open by an end that closed no calls, such as a divergence.
    if (kind !== "child" || execution_id === undefined || before.state === "CANCELLING") continue;
    draft.effect(cancelChildOf(execution_id, { now, cancel_timeout_ms }));
  }
  const { parent_id } = row;
  if (parent_id !== null) {
    const decide = (parent: ExecutionRow | undefined) => answerParent(parent, row, now);
    draft.effect({ kind: "change", execution_id: parent_id, decide });
  }
  return draft.effect(...before.watchers.map((watcher) => wakeWatcher(watcher, now))).done();
}

/** The child's end and the outcome in its parent's log are one commit (EXE-55). */
function answerParent(
  parent: ExecutionRow | undefined,
  child: ExecutionRow,
  now: number,
): Append | undefined {
  const wait = parent?.waits.find(
    (w) => w.kind === "child" && w.execution_id === child.execution_id,
  );
  // A parent that unwinds gives its calls up itself.
  if (!parent || !wait || parent.state === "CANCELLING") return undefined;
  const draft = new Draft(parent, now);
  const outcome =
    child.state === "COMPLETED"
      ? { output: child.output }
      : { failure: childFailure(child, wait.task_call_id) };
  answerWait(draft, wait, { cause: "child", ...outcome });
  return draft.done();
}

function childFailure(child: ExecutionRow, task_call_id: string): Failure {
  const { execution_id, namespace, workflow, state, failure } = child;
  const of = { task_call_id, details: { execution_id } };
  const name = `child ${namespace}/${workflow} (${execution_id})`;
  if (state === "CANCELLED") {
    return engineFailure("ChildCancelledError", `${name} was cancelled`, of);
  }
  const message = `${name} failed: ${failure?.message ?? "no reason given"}`;
  return engineFailure("ChildFailedError", message, { ...of, cause: failure });
}

function wakeWatcher({ execution_id, task_call_id }: Watcher, now: number): Effect {
  return {
    kind: "change",
    execution_id,
    decide: (row) => {
      const wait = row?.waits.find((open) => open.task_call_id === task_call_id);
      if (!row || !wait || row.state === "CANCELLING") return undefined;
      const draft = new Draft(row, now);
      answerWait(draft, wait, { cause: "completion", output: NOTHING });
      return draft.done();
    },
  };
}

/**
 * Makes a pause wait for another execution's end (EXE-51). An execution that has ended already wakes
 * the pause at once; an unknown one fails the call.
 */
export function watch(target_id: string, watcher: Watcher, now: number): Effect {
  return {
    kind: "change",
    execution_id: target_id,
    decide: (target) => {
      const nothing = { events: [], patch: {} };
      if (!target) return { ...nothing, effects: [refuseWatcher(watcher, target_id, now)] };
      if (isTerminal(target.state)) return { ...nothing, effects: [wakeWatcher(watcher, now)] };
      return { events: [], patch: { watchers: [...target.watchers, watcher] } };
    },
  };
}

function refuseWatcher(
  { execution_id, task_call_id }: Watcher,
  target: string,
  now: number,
): Effect {
  return {
    kind: "change",
    execution_id,
    decide: (row) => {
      const wait = row?.waits.find((open) => open.task_call_id === task_call_id);
      if (!row || !wait) return undefined;
      const draft = new Draft(row, now);
      const message = `pause "${wait.name}" waits for execution ${target}, which does not exist`;
      const details = { resource: "execution", execution_id: target };
      const failure = engineFailure("NotFoundError", message, { task_call_id, details });
      // It fails rather than being resumed.
      answerWait(draft, { ...wait, kind: "pause" }, { cause: "completion", failure });
      return draft.done();
    },
  };
}
