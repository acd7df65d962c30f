import type { EventType } from "@engine/contract";

/** Values of these may be kept outside the log; the others the engine itself has to read. */
export const KEPT_ELSEWHERE: ReadonlySet<EventType> = new Set([
  "TASK_STARTED",
  "TASK_COMPLETED",
  "WORKFLOW_STARTED",
  "WORKFLOW_COMPLETED",
]);

/** Events that only a running copy writes: where there is one, another copy has been at work. */
export const BY_COPIES: ReadonlySet<EventType> = new Set([
  "WORKFLOW_STARTED",
  "WORKFLOW_RESUMED",
  "WORKFLOW_PAUSED",
]);

/** The state in which an execution ends with each of these. */
export const STATE_AFTER: Readonly<{
  WORKFLOW_COMPLETED: "COMPLETED";
  WORKFLOW_FAILED: "FAILED";
  WORKFLOW_CANCELLED: "CANCELLED";
}> = {
  WORKFLOW_COMPLETED: "COMPLETED",
  WORKFLOW_FAILED: "FAILED",
  WORKFLOW_CANCELLED: "CANCELLED",
};
