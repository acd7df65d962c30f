import { EngineError } from "@engine/contract";

/** Whether an error says for certain that nothing was written. */
export function isRefusal(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code !== "unavailable";
}
