/** How an execution begins, gets an owner and loses it again: pure decisions beside `log-rules.ts`. */
import type { NewEvent } from "./event.ts";
import type { ClaimReason, Trigger } from "./event-values.ts";
import type { ExecutionPatch, ExecutionRow } from "./execution-row.ts";
import { type Append, patchOf, unowned } from "./log-rules.ts";
import { formatEventTime } from "./time.ts";
import { handOverState } from "./transition.ts";
import { type Encoded, encode } from "./value.ts";

export interface NewExecution {
  readonly execution_id: string;
  readonly namespace: string;
  readonly workflow: string;
  readonly version: number | null;
  readonly module_hash: string | null;
  readonly name?: string | null;
  readonly input: Encoded;
  readonly trigger: Trigger;
  readonly by: string | null;
  readonly priority?: number;
  readonly now: number;
}

/** The row of a fresh execution with its first event already counted (EXE-17 row 1). */
export function createdExecution(fresh: NewExecution): { row: ExecutionRow; event: NewEvent } {
  const { execution_id, namespace, workflow, version, module_hash, input, now } = fresh;
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
    last_worker: null,
    last_session: null,
    generation: 0,
    head: 1,
    last_time: now,
    resuming: false,
    waits: [],
    priority: fresh.priority ?? 0,
    queued_at: now,
    parent_id: null,
    parent_call_id: null,
    created_at: now,
    started_at: null,
    finished_at: null,
    updated_at: now,
  };
  const event: NewEvent = {
    type: "WORKFLOW_CREATED",
    source_id: execution_id,
    name: workflow,
    kind: null,
    value: encode({ version, trigger: fresh.trigger }, "value"),
    time: formatEventTime(now),
    meta: fresh.by === null ? null : { by: fresh.by },
  };
  return { row, event };
}

export interface Claimant {
  readonly worker: string;
  /** Id of the claimant's session. */
  readonly session: string;
  readonly now: number;
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
  const { worker, session, now } = claimant;
  const claimable =
    row.state === "CREATED" || row.state === "RESUMING" || row.state === "CANCELLING";
  if (row.session !== null || !claimable) return undefined;
  return { kind: "append", ...claimWith(row, { worker, session, now }) };
}

/** A local run continues an execution whose earlier process died, whatever state it left (EXE-14). */
export function takeOver(row: ExecutionRow, claimant: Claimant): Append {
  const state = row.state === "RUNNING" || row.state === "CLAIMED" ? "CREATED" : row.state;
  return { kind: "append", ...claimWith({ ...row, state }, claimant) };
}

function claimWith(row: ExecutionRow, { worker, session, now }: Claimant) {
  const generation = row.generation + 1;
  const event: NewEvent = {
    type: "WORKFLOW_CLAIMED",
    source_id: row.execution_id,
    name: row.workflow,
    kind: null,
    value: { worker, generation, reason: claimReason(row), attempt: generation, score: null },
    time: formatEventTime(Math.max(now, row.last_time)),
    meta: null,
  };
  const patch: ExecutionPatch = {
    ...patchOf(row, [event], now),
    worker,
    session,
    last_worker: row.worker ?? row.last_worker,
    generation,
  };
  return { events: [event], patch };
}

/**
 * Takes an owned execution from its worker and puts it back into the queue (EXE-17 row 7, LIV-4).
 * No event: the cleared owner fences the old worker at once. Its place in the queue is kept.
 */
export function handOver(row: ExecutionRow, now: number): ExecutionPatch {
  return { ...unowned(row), state: handOverState(row.state, row.resuming), updated_at: now };
}
