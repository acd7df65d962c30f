/** How an execution begins, gets an owner and loses it again: pure decisions beside `log-rules.ts`. */

import { engineFailure, type Failure } from "../errors/failure.ts";
import type { ExecutionRow, LossReason } from "../executions/execution-row.ts";
import { NO_SIGNALS, type SignalStep } from "../executions/kept-signals.ts";
import type { NewExecution } from "../executions/new-execution.ts";
import type { NewEvent } from "../log/event.ts";
import type { ClaimReason } from "../log/event-values.ts";
import { formatEventTime } from "../values/time.ts";
import { encode } from "../values/value.ts";
import type { Append, Change, Effect } from "./change.ts";
import { Draft } from "./draft.ts";
import { type EndTerms, failExecution } from "./ending-rules.ts";
import { openWaits, unowned } from "./log-rules.ts";
import { counted, crashLoop, delayedUntil, lossesAfter } from "./loss-rules.ts";
import { wakeAt } from "./row-patch.ts";
import { unconsumedSignals } from "./signal-rules.ts";
import { handOverState, isClaimable } from "./transition.ts";

export interface Created {
  readonly row: ExecutionRow;
  readonly events: readonly NewEvent[];
  readonly effects?: readonly Effect[];
  /** Signals that no call had consumed at a fork's cut. */
  readonly signals?: readonly SignalStep[];
}

/** The row of a fresh execution with its first events already counted (EXE-17 row 1). */
export function createdExecution(fresh: NewExecution): Created {
  const { execution_id, namespace, workflow, version, module_hash, input, now } = fresh;
  const { parent, fork } = fresh;
  const row: ExecutionRow = {
    execution_id,
    namespace,
    workflow,
    version,
    module_hash,
    name: fresh.name ?? null,
    state: "CREATED",
    input,
    output: null,
    failure: null,
    worker: null,
    session: null,
    last_worker: fresh.preferred_worker ?? null,
    last_session: null,
    generation: 0,
    head: 1,
    last_time: now,
    resuming: false,
    waits: [],
    signals: NO_SIGNALS,
    watchers: [],
    wake_at: null,
    timeout_ms: fresh.timeout_ms ?? null,
    cancelling: null,
    seed: fresh.seed,
    transient: fresh.transient ?? false,
    requirements: fresh.requirements ?? null,
    losses: [],
    outcome_generation: 0,
    not_before: notBefore(fresh),
    park_ttl_ms: fresh.park_ttl_ms ?? null,
    park_by: null,
    routing_input: fresh.routing_input ?? null,
    unique_key: fresh.unique?.key ?? null,
    request_hash: fresh.unique?.request_hash ?? null,
    schedule: fresh.schedule?.name ?? null,
    scheduled_for: fresh.schedule?.scheduled_for ?? null,
    priority: fresh.priority ?? 0,
    queued_at: notBefore(fresh) ?? now,
    parent_id: parent?.execution_id ?? null,
    parent_call_id: parent?.call_id ?? null,
    detached: parent?.detached ?? false,
    depth: parent ? parent.depth + 1 : 0,
    forked_from: fork?.from ?? null,
    hook: fresh.hook ?? null,
    started_by: fresh.by,
    run_as: fresh.run_as === undefined ? fresh.by : fresh.run_as,
    created_at: now,
    started_at: null,
    finished_at: null,
    updated_at: now,
  };
  const meta = {
    ...(fresh.by !== null && { by: fresh.by }),
    ...(fork && { forked_from: fork.from }),
  };
  const event: NewEvent = {
    type: "WORKFLOW_CREATED",
    source_id: execution_id,
    name: workflow,
    kind: null,
    value: encode({ version, trigger: fresh.trigger, label: labelOf(fresh) }, "value"),
    time: formatEventTime(now),
    meta: Object.keys(meta).length > 0 ? meta : null,
  };
  if (fresh.unplaceable) return failedAtOnce(row, event, fresh.unplaceable, now);
  if (fork && fork.from.seq > 0) return continuedFork(row, event, fresh, fork);
  const { park_ttl_ms, not_before } = row;
  const park_by = park_ttl_ms === null || not_before !== null ? null : now + park_ttl_ms;
  const wake_at = wakeAt({ ...row, park_by });
  return { row: { ...row, park_by, wake_at }, events: [event] };
}

/** No worker can ever have it: it ends in the commit that creates it, without one (AFF-5). */
function failedAtOnce(
  row: ExecutionRow,
  created: NewEvent,
  failure: Failure,
  now: number,
): Created {
  // It never ran, so that nothing of it takes time to end.
  const { patch, ...change } = failExecution(row, failure, { now, cancel_timeout_ms: 0 });
  return { ...change, row: { ...row, ...patch }, events: [created, ...change.events] };
}

/** The code of a fork has read the label of its source, as far as its log is a copy. */
function labelOf({ fork, name }: NewExecution): string | null {
  const label = fork && fork.from.seq > 0 ? fork.label : name;
  return label ?? null;
}

/** An instant that has passed is no delay. */
function notBefore({ not_before = null, now }: NewExecution): number | null {
  return not_before !== null && not_before > now ? not_before : null;
}

/** A fork with a cut: it has the copied events behind it and goes on by replay (EXE-87). */
function continuedFork(
  row: ExecutionRow,
  created: NewEvent,
  { now }: NewExecution,
  { history, calls }: NonNullable<NewExecution["fork"]>,
): Created {
  const { execution_id } = row;
  const copied = history.map((event) =>
    event.type.startsWith("WORKFLOW_") ? { ...event, source_id: execution_id } : event,
  );
  const draft = new Draft({ ...row, last_time: 0 }, now).append(copied);
  // The copy begins behind WORKFLOW_CREATED.
  for (const { seq, ...signal } of unconsumedSignals(copied)) {
    draft.keepSignal({ ...signal, seq: row.head + seq });
  }
  const open = new Set(draft.row.waits.map(({ task_call_id }) => task_call_id));
  const opening = copied.filter(({ source_id }) => open.has(source_id));
  draft.set({ state: "PAUSED" }).write({ type: "WORKFLOW_RESUMING", meta: { cause: "fork" } });
  openWaits(draft, opening, { calls, findKept: () => undefined });
  const { patch, ...change } = draft.done();
  // The copy's first event carries the time of the source's, so that times never go back.
  const first = { ...created, time: copied[0]?.time ?? created.time };
  return { ...change, row: { ...row, ...patch }, events: [first, ...change.events] };
}

/** Who takes an execution; `now` is the clock of the server that decides, milliseconds since 1970. */
export interface Claimant {
  readonly worker: string;
  /** Id of the claimant's session. */
  readonly session: string;
  readonly now: number;
  /** What its workflow's policy gave the worker; without a policy there is none. */
  readonly score?: number | null;
}

/** Why an unowned execution needs a worker now. */
export function claimReason(row: ExecutionRow): ClaimReason {
  if (row.state === "CANCELLING") return "cancel";
  if (row.resuming) return "resume";
  return row.generation === 0 ? "start" : "recover";
}

/**
 * Gives an execution to a worker (EXE-17 row 2): generation + 1, WORKFLOW_CLAIMED. Undefined when
 * it is owned or in a state nobody may claim, which a dispatcher takes as "somebody was faster".
 */
export function decideClaim(row: ExecutionRow, claimant: Claimant): Append | undefined {
  if (row.session !== null || row.not_before !== null || !isClaimable(row.state)) return undefined;
  return claimWith(row, claimant);
}

/** A local run continues an execution whose earlier process died, in any state (EXE-14). */
export function takeOver(row: ExecutionRow, claimant: Claimant): Append {
  const state = row.state === "RUNNING" || row.state === "CLAIMED" ? "CREATED" : row.state;
  return claimWith({ ...row, state }, claimant);
}

function claimWith(row: ExecutionRow, claimant: Claimant): Append {
  const { worker, session, now, score = null } = claimant;
  const generation = row.generation + 1;
  const reason = claimReason(row);
  const value = { worker, generation, reason, attempt: generation, score };
  return new Draft(row, now)
    .write({ type: "WORKFLOW_CLAIMED", value })
    .set({ worker, session, last_worker: row.worker ?? row.last_worker, generation })
    .done();
}

/**
 * How an execution is taken from its worker: given back, or lost. One that is being cancelled is to be
 * unwound by the next worker within `cancel_timeout_ms`.
 */
export interface HandOver extends EndTerms {
  /** Set when the worker lost it rather than gave it back. */
  readonly loss?: HandOverLoss;
}

export interface HandOverLoss {
  readonly reason: LossReason;
  readonly max_crashes: number;
  /** Other executions were there too, or this one was not to blame: the loss is only remembered. */
  readonly uncounted?: boolean;
}

/**
 * Takes an owned execution from its worker and puts it back into the queue (EXE-17 row 7, LIV-4).
 * No event: the cleared owner fences the old worker at once. Its place in the queue is kept. A
 * transient execution that had begun has nothing to go on from and fails (EXE-58).
 */
export function handOver(row: ExecutionRow, terms: HandOver): Change {
  const { now, cancel_timeout_ms, loss } = terms;
  const { state, resuming, cancelling, transient, started_at } = row;
  if (transient && started_at !== null) {
    const message = "its worker was lost, and a transient execution has no log to go on from";
    return failExecution(row, engineFailure("WorkerLostError", message), terms);
  }
  const losses = loss ? lossesAfter(row, now, loss) : row.losses;
  if (loss && counted(losses).length >= loss.max_crashes) {
    return failExecution(row, crashLoop(losses), terms);
  }
  const draft = new Draft(row, now).set({
    ...unowned(row),
    state: handOverState(state, resuming),
    losses,
    not_before: loss ? delayedUntil(losses, now) : null,
    updated_at: now,
  });
  if (cancelling) draft.set({ cancelling: { ...cancelling, by: now + cancel_timeout_ms } });
  return draft.done();
}
