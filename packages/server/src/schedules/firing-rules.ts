/** What a schedule's row becomes by each thing that happens when it fires. Pure; `now` is given. */
import type { SchedulePatch, ScheduleRow } from "@engine/contract";
import type { PlanStep } from "./next-step.ts";

/** After so many failed starts in a row a schedule is disabled (EXE-75). */
const MOST_FAILURES = 10;
const LONGEST_RETRY_MS = 300_000;

/** A step of the plan has started this execution. */
export function startedByPlan(
  row: ScheduleRow,
  step: PlanStep,
  run: { readonly execution_id: string; readonly now: number },
): SchedulePatch {
  return { ...moved(row, step, run.now), ...counted(row, run) };
}

/** A start that was held back has been made. */
export function startedFromHold(
  row: ScheduleRow,
  run: { readonly execution_id: string; readonly now: number },
): SchedulePatch {
  const status = row.next_run_at === null ? "completed" : "active";
  return { ...counted(row, run), held: null, status };
}

/** An execution was started that is no part of the plan, or not of its next step. */
export function counted(
  row: ScheduleRow,
  { execution_id, now }: { readonly execution_id: string; readonly now: number },
): SchedulePatch {
  return {
    run_count: row.run_count + 1,
    last_run_at: now,
    last_execution_id: execution_id,
    consecutive_failures: 0,
    last_error: null,
    updated_at: now,
  };
}

/** Nothing was started. `skipped` counts this instant, besides those that the step leaves out. */
export function skippedByPlan(
  row: ScheduleRow,
  step: PlanStep,
  { skipped, now }: { readonly skipped: number; readonly now: number },
): SchedulePatch {
  return { ...moved(row, step, now), ...skips(row, step.dropped + skipped, now) };
}

/** The start waits for executions to end; a start that waited before is left out. */
export function heldByPlan(row: ScheduleRow, step: PlanStep, now: number): SchedulePatch {
  const replaced = row.held?.retry_at === null ? 1 : 0;
  return {
    ...moved(row, step, now),
    ...skips(row, step.dropped + replaced, now),
    held: { instant: step.instant, retry_at: null },
    status: "active",
  };
}

/** A start that its workflow refused for want of a place is left out (FLW-1). */
export function skippedForRoom(
  row: ScheduleRow,
  step: PlanStep | undefined,
  now: number,
): SchedulePatch {
  if (step) return skippedByPlan(row, step, { skipped: 1, now });
  const isOver = row.next_run_at === null;
  const status = isOver ? "completed" : row.status;
  return { held: null, status, updated_at: now, ...skips(row, 1, now) };
}

/** A start failed; `step` is absent where the start had been held back. */
export function startFailed(
  row: ScheduleRow,
  { instant, step, error, now }: FailedStart,
): SchedulePatch {
  const consecutive_failures = row.consecutive_failures + 1;
  const failed = {
    failure_count: row.failure_count + 1,
    consecutive_failures,
    last_error: error,
    updated_at: now,
  };
  if (consecutive_failures >= MOST_FAILURES) return { ...failed, ...disabled };
  const retry_at = now + Math.min(LONGEST_RETRY_MS, 1000 * 2 ** (consecutive_failures - 1));
  const next = step ? step.next : row.next_run_at;
  // The plan waits where further missed instants follow: they would all fail at once as well.
  if (step && next !== null && next <= now) return { ...failed, held: { instant, retry_at } };
  const held = next !== null && next <= retry_at ? null : { instant, retry_at };
  return { ...failed, ...(step && moved(row, step, now)), held, status: "active" };
}

export interface FailedStart {
  readonly instant: number;
  readonly step?: PlanStep | undefined;
  readonly error: string;
  readonly now: number;
}

const disabled: SchedulePatch = {
  status: "disabled",
  next_run_at: null,
  held: null,
  catch_up_to: null,
};

/** The plan after a step. A start that waits for executions waits on; a failed start is given up. */
function moved(row: ScheduleRow, step: PlanStep, now: number): SchedulePatch {
  const held = row.held?.retry_at === null ? row.held : null;
  return {
    next_run_at: step.next,
    catch_up_to: step.catch_up_to,
    held,
    status: step.next === null && held === null ? "completed" : "active",
    updated_at: now,
    ...skips(row, step.dropped, now),
  };
}

function skips(row: ScheduleRow, count: number, now: number): SchedulePatch {
  return count === 0 ? {} : { skip_count: row.skip_count + count, last_skipped_at: now };
}
