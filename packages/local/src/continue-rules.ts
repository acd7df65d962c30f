/** How a local run goes on with an execution that exists already: pure decisions over its row. */
import {
  type Change,
  type Claimant,
  decideClaim,
  decideResume,
  decideWake,
  EngineError,
  type ExecutionRow,
  handOver,
  isTerminal,
  notFound,
  takeOver,
} from "@engine/contract";
import { encodeInput } from "./new-local-execution.ts";

export interface WorkflowName {
  readonly namespace: string;
  readonly name: string;
  readonly qualifiedName: string;
}

/** Who goes on with an execution. */
export interface Successor {
  readonly claimant: Claimant;
  /** Milliseconds a worker has to unwind what is cancelled. */
  readonly cancel_timeout_ms: number;
}

export interface Continuation extends Successor {
  readonly workflow: WorkflowName;
  /** Undefined when the caller gave none. */
  readonly input: unknown;
  readonly pause: string | undefined;
}

/**
 * Decides how a local run goes on with an execution that exists (EXE-14): undefined for one that
 * has ended, else the events and columns that make this process its owner.
 */
export function decideContinue(row: ExecutionRow, how: Continuation): Change | undefined {
  const { workflow, input, pause } = how;
  assertWorkflow(row, workflow);
  if (row.version !== null) {
    const message = `execution ${row.execution_id} is run by a server (version ${row.version}) and cannot be continued locally; resume it there`;
    throw new EngineError("conflict", message, { details: { version: row.version } });
  }
  if (isTerminal(row.state)) return undefined;
  if (row.state === "PAUSED") {
    const wakes = input === undefined && isWoken(row, pause, how.claimant.now);
    return wakes ? wakeAndClaim(row, how) : resumeAndClaim(row, how);
  }
  if (input !== undefined) {
    const message = `execution ${row.execution_id} is ${row.state} and takes no input; leave the input out to continue it`;
    throw new EngineError("not_paused", message, { details: { state: row.state } });
  }
  return succeed(row, how);
}

/**
 * Decides how an execution goes on that is continued for the sake of another one: a pause stays for
 * somebody to answer unless its time has come.
 */
export function decideSuccession(row: ExecutionRow, by: Successor): Change | undefined {
  if (isTerminal(row.state) || row.version !== null) return undefined;
  if (row.state !== "PAUSED") return succeed(row, by);
  return isWoken(row, undefined, by.claimant.now) ? wakeAndClaim(row, by) : undefined;
}

/** @throws EngineError `not_found` when the execution is of another workflow. */
export function assertWorkflow(row: ExecutionRow, workflow: WorkflowName): void {
  if (row.namespace === workflow.namespace && row.workflow === workflow.name) return;
  throw notFound(
    "execution",
    `${row.execution_id} of workflow ${workflow.qualifiedName}; it belongs to ${row.namespace}/${row.workflow}`,
  );
}

/** The process that had it died; a transient one has no log to go on from (EXE-58). */
function succeed(row: ExecutionRow, { claimant, cancel_timeout_ms }: Successor): Change {
  if (row.transient && row.started_at !== null) {
    return handOver(row, { now: claimant.now, cancel_timeout_ms });
  }
  return takeOver(row, claimant);
}

/** Whether the time of something it waits for has come; of one pause only if that is named. */
function isWoken(row: ExecutionRow, pause: string | undefined, now: number): boolean {
  if (row.wake_at === null || row.wake_at > now) return false;
  if (pause === undefined) return true;
  return row.waits.some(
    ({ name, task_call_id, until = Number.POSITIVE_INFINITY }) =>
      (name === pause || task_call_id === pause) && until <= now,
  );
}

/** Both steps in one commit, so that of two racing processes one goes on and the other is told. */
function wakeAndClaim(row: ExecutionRow, { claimant, cancel_timeout_ms }: Successor): Change {
  const woken = decideWake(row, { now: claimant.now, cancel_timeout_ms, hasWorker: () => true });
  if (!woken) throw new Error(`a due execution is ${row.state} and has nothing to wake`);
  return thenClaim(row, woken, claimant);
}

function resumeAndClaim(row: ExecutionRow, { input, pause, claimant }: Continuation): Change {
  const { now } = claimant;
  const resumed = decideResume(row, { input: encodeInput(input), pause, by: null, now });
  if (resumed instanceof EngineError) throw resumed;
  return thenClaim(row, resumed, claimant);
}

function thenClaim(row: ExecutionRow, first: Change, claimant: Claimant): Change {
  const claimed = decideClaim({ ...row, ...first.patch }, claimant);
  if (!claimed) throw new Error(`a local execution that goes on is ${first.patch.state}`);
  return {
    events: [...first.events, ...claimed.events],
    patch: { ...first.patch, ...claimed.patch },
    effects: [...(first.effects ?? []), ...(claimed.effects ?? [])],
  };
}
