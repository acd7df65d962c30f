import type { Append } from "./change.ts";
import { Draft } from "./draft.ts";
import { type Cancel, decideCancel, endUnwound } from "./ending-rules.ts";
import { EngineError } from "./errors.ts";
import { isTerminal } from "./execution.ts";
import type { ExecutionRow } from "./execution-row.ts";
import { endDueWaits } from "./wait-rules.ts";

/**
 * Decides what the time has come for: waits that end, a workflow's timeout, a cancelled execution
 * that nobody unwound. Undefined when nothing is due, so that a second timer changes nothing (I10).
 */
export function decideWake(
  row: ExecutionRow,
  of: Pick<Cancel, "now" | "cancel_timeout_ms" | "hasWorker">,
): Append | undefined {
  const { now } = of;
  if (isTerminal(row.state) || row.wake_at === null || row.wake_at > now) return undefined;
  if (row.state === "CANCELLING") return endUnwound(row, now);
  const { timeout_ms, started_at } = row;
  if (timeout_ms !== null && started_at !== null && started_at + timeout_ms <= now) {
    const verdict = decideCancel(row, { ...of, cause: "timeout", by: null });
    return verdict instanceof EngineError ? undefined : verdict;
  }
  const draft = new Draft(row, now);
  return endDueWaits(draft) ? draft.done() : undefined;
}
