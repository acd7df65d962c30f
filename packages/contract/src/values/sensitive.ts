import type { Failure } from "../errors/failure.ts";

/** Stands in logs, streams and answers for what a sensitive task took, gave or said (SEC-8). */
export const SENSITIVE = "[REDACTED:sensitive]";

/**
 * The failure without what its message may hold of the task's values. Its type stays, and with it what
 * code can decide by; that it is told nothing more holds at once and in every replay.
 */
export function withoutMessage(failure: Failure): Failure {
  const { cause, details } = failure;
  const at = details?.["at"];
  return {
    ...failure,
    message: SENSITIVE,
    details: at === undefined ? null : { at },
    cause: cause && withoutMessage(cause),
  };
}
