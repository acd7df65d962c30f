import { EngineError } from "../errors/errors.ts";
import { engineFailure, type Failure } from "../errors/failure.ts";
import { isTerminal } from "../executions/execution.ts";
import { type ExecutionRow, isQueued } from "../executions/execution-row.ts";
import type { Append } from "./change.ts";
import { Draft } from "./draft.ts";
import { type Cancel, decideCancel, endUnwound, failExecution } from "./ending-rules.ts";
import { endDueWaits } from "./wait-rules.ts";

/** What a queued execution waits for, as the gate says. */
export interface WaitsFor {
  readonly code: string;
  readonly message: string;
}

export interface Wake extends Pick<Cancel, "now" | "cancel_timeout_ms" | "hasWorker"> {
  /** Asked when a wait for a worker has taken too long. */
  readonly waitsFor?: (row: ExecutionRow) => WaitsFor;
}

/**
 * Decides what the time has come for: waits that end, a workflow's timeout, a cancelled execution
 * that nobody unwound. Undefined when nothing is due, so that a second timer changes nothing (I10).
 */
export function decideWake(row: ExecutionRow, of: Wake): Append | undefined {
  const { now } = of;
  if (isTerminal(row.state) || row.wake_at === null || row.wake_at > now) return undefined;
  if (row.state === "CANCELLING") {
    return row.cancelling && row.cancelling.by > now ? begin(row, now) : endUnwound(row, of);
  }
  const { timeout_ms, started_at } = row;
  if (timeout_ms !== null && started_at !== null && started_at + timeout_ms <= now) {
    const verdict = decideCancel(row, { ...of, cause: "timeout", by: null });
    return verdict instanceof EngineError ? undefined : verdict;
  }
  if (row.not_before !== null && row.not_before <= now) return begin(row, now);
  if (row.park_by !== null && row.park_by <= now && isQueued(row)) {
    return failExecution(row, parkTimeout(row, of.waitsFor?.(row)), of);
  }
  const draft = new Draft(row, now);
  return endDueWaits(draft) ? draft.done() : undefined;
}

/** The instant has come before which no worker could have it. */
function begin(row: ExecutionRow, now: number): Append {
  return new Draft(row, now).set({ not_before: null, updated_at: now }).done();
}

function parkTimeout({ park_ttl_ms }: ExecutionRow, why: WaitsFor | undefined): Failure {
  const waited = `no worker took the execution within ${(park_ttl_ms ?? 0) / 1000}s (park_ttl)`;
  const message = why ? `${waited}: ${why.message}` : waited;
  return engineFailure("ParkTimeoutError", message, { details: why ? { ...why } : null });
}
