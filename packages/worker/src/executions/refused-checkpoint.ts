import type { EngineError, Failure } from "@engine/contract";
import { loadFailure } from "../program/load-workflow.ts";
import { hasCode } from "../transient.ts";

/** Whether the server refuses the content of a checkpoint: sent again, it is refused again. */
export function isContentRefused(error: unknown): error is EngineError {
  return hasCode(error, "invalid_input") || hasCode(error, "payload_too_large");
}

/**
 * The failure of an execution whose checkpoint the server refuses. Another worker would replay to the
 * same place and be refused there, without end.
 */
export function refusedCheckpoint({ code, message, details }: EngineError): Failure {
  const issues = details?.["issues"];
  return loadFailure(
    "checkpoint_refused",
    `the server refused the checkpoint that the workflow's SDK made: ${message}; run a worker and a bundle of the server's release`,
    { code, ...(issues !== undefined && { issues }) },
  );
}
