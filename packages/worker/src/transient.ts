/** What a worker asks of errors: whether to try again, which code they have, what they say. */
import { EngineError, type ErrorCode } from "@engine/contract";

/** Whether a failed call may succeed when it is repeated: network trouble, 429 and 5xx (CKP-6). */
export function isTransient(error: unknown): boolean {
  return !(error instanceof EngineError) || error.status === 429 || error.status >= 500;
}

export function hasCode(error: unknown, code: ErrorCode): error is EngineError {
  return error instanceof EngineError && error.code === code;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
