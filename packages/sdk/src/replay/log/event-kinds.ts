import type { CallKind, Event, EventType } from "@engine/contract";

/** Values of these may be kept outside the log; the others the engine itself has to read. */
const KEPT_ELSEWHERE: ReadonlySet<EventType> = new Set([
  "TASK_STARTED",
  "TASK_COMPLETED",
  "WORKFLOW_STARTED",
  "WORKFLOW_COMPLETED",
]);

/** Whether a value that is too large for the log may lie outside of it. */
export function mayLieElsewhere(
  type: EventType,
  value: string,
  of: { readonly kind: CallKind } | undefined,
): boolean {
  if (!KEPT_ELSEWHERE.has(type) || value.startsWith('{"$stored"')) return false;
  // The engine reads what built-in calls began with, whatever its length.
  return of === undefined || of.kind === null || type === "TASK_COMPLETED";
}

/** Events that only a running copy writes: where there is one, another copy has been at work. */
export const BY_COPIES: ReadonlySet<EventType> = new Set([
  "WORKFLOW_STARTED",
  "WORKFLOW_RESUMED",
  "WORKFLOW_PAUSED",
]);

export function isCancel({ type }: Event): boolean {
  return type === "WORKFLOW_CANCELLING";
}
