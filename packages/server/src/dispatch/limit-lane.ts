import type { QueuedExecution } from "@engine/store";

/**
 * Executions under limits that have begun wait apart from those that have not, which a rate or a place that
 * is kept may hold back; and what was cancelled is unwound whatever is full.
 */
export function limitLane({
  requirements,
  generation,
  state,
}: Pick<QueuedExecution, "requirements" | "generation" | "state">): string {
  if (!requirements?.includes('"limits":[')) return "";
  if (state === "CANCELLING") return "unwinding";
  return generation > 0 ? "begun" : "";
}
