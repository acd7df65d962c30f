import { decode, type Event, type Failure, parseInstant } from "@engine/contract";
import { changed } from "../endings/failure-stacks.ts";

/** How far a task call had come when the copy that ran it was lost, read from its events. */
export type Reached =
  /** The attempt has to run. */
  | { readonly kind: "attempt"; readonly attempt: number; readonly not_before?: number }
  /** The attempt failed, and what follows was not recorded any more. */
  | { readonly kind: "failed"; readonly attempt: number; readonly failure: Failure }
  /** The attempts are used up; rollback and fallback follow. */
  | {
      readonly kind: "unwinding";
      readonly failure: Failure;
      readonly rollback: "none" | "started" | "completed";
      readonly hasFallbackStarted: boolean;
    }
  /** The result is recorded, the call's outcome is not. */
  | { readonly kind: "completed"; readonly output: unknown; readonly attempts: number }
  | { readonly kind: "ended"; readonly failure: Failure };

interface RetryStep {
  readonly attempt: number;
  readonly not_before: string;
  readonly output?: unknown;
  readonly error: Failure;
}

export function reached(steps: readonly Event[]): Reached {
  let at: Reached = { kind: "attempt", attempt: 1 };
  let failure: Failure | undefined;
  let attempts = 1;
  for (const { type, value: encoded } of steps) {
    const value = decode(encoded);
    switch (type) {
      case "TASK_RETRY_STARTED": {
        const { attempt, not_before } = value as RetryStep;
        at = { kind: "attempt", attempt, not_before: parseInstant(not_before) };
        attempts = attempt;
        break;
      }
      case "TASK_RETRY_FAILED": {
        const { attempt, error } = value as RetryStep;
        at = { kind: "failed", attempt, failure: error };
        break;
      }
      case "TASK_RETRY_COMPLETED":
        // A step without its output gives nothing to go on with: the attempt runs again.
        if (!Object.hasOwn(value as RetryStep, "output")) break;
        at = { kind: "completed", output: (value as RetryStep).output, attempts };
        break;
      case "TASK_ROLLBACK_STARTED":
        // After a cancel nothing else is left to do: see unwound().
        if ((value as { reason: string }).reason === "cancel") return at;
        failure = (value as { error: Failure }).error;
        at = { kind: "unwinding", failure, rollback: "started", hasFallbackStarted: false };
        break;
      case "TASK_ROLLBACK_COMPLETED":
        if (!failure) break;
        at = { kind: "unwinding", failure, rollback: "completed", hasFallbackStarted: false };
        break;
      case "TASK_ROLLBACK_FAILED":
        if (!failure) break;
        at = { kind: "ended", failure: withDetails(failure, { rollback: value as Failure }) };
        break;
      case "TASK_FALLBACK_STARTED":
        failure = (value as { error: Failure }).error;
        at = { kind: "unwinding", failure, rollback: "completed", hasFallbackStarted: true };
        break;
      case "TASK_FALLBACK_COMPLETED":
        at = { kind: "completed", output: value, attempts: failure?.attempts ?? attempts };
        break;
      case "TASK_FALLBACK_FAILED":
        at = { kind: "ended", failure: value as Failure };
        break;
      default:
    }
  }
  return at;
}

/** How far the rollback of a cancelled call has come. */
export function unwound(steps: readonly Event[]): "none" | "started" | "done" {
  const begun = steps.findLastIndex(({ type }) => type === "TASK_ROLLBACK_STARTED");
  if (begun < 0) return "none";
  const isOver = steps
    .slice(begun)
    .some(({ type }) => type === "TASK_ROLLBACK_COMPLETED" || type === "TASK_ROLLBACK_FAILED");
  if (isOver) return "done";
  const { reason } = decode(steps[begun]?.value ?? null) as { reason: string };
  return reason === "cancel" ? "started" : "none";
}

/**
 * The original failure, with why it could not be undone (EXE-39), or why the author's `retryIf` could
 * not say whether to try again.
 */
export function withDetails(
  failure: Failure,
  details: { readonly rollback: Failure } | { readonly retry_if: Failure },
): Failure {
  return changed(failure, { details: { ...failure.details, ...details } });
}

/**
 * How many calls of each name earlier steps of a task made, so that the step that runs now counts
 * on and reuses none of their results (EXE-30).
 */
export function countsBefore(
  steps: readonly Event[],
  children: readonly { id: string; name: string; started: Event }[],
): Map<string, number> {
  const counts = new Map<string, number>();
  const begun = steps.findLast((event) => STEP_BEGINS.has(event.type));
  if (!begun) return counts;
  for (const { id, name, started } of children) {
    if (started.seq > begun.seq) continue;
    const n = Number(id.slice(id.lastIndexOf("~") + 1));
    counts.set(name, Math.max(n, counts.get(name) ?? 0));
  }
  return counts;
}

const STEP_BEGINS: ReadonlySet<string> = new Set([
  "TASK_RETRY_STARTED",
  "TASK_ROLLBACK_STARTED",
  "TASK_FALLBACK_STARTED",
]);
