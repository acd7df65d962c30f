import { engineFailure, type Failure, type Stored, store } from "@engine/contract";
import { toFailure } from "./failure.ts";

/** JSON null, stored. */
export const STORED_NULL = "null";

/** Stores a value that must fit, or says as a Failure why it cannot be kept. */
export function storeOr(
  value: unknown,
  root: string,
  of: { maxBytes: number; task_call_id: string | null; attempts: number },
): { stored: Stored; failure?: undefined } | { stored?: undefined; failure: Failure } {
  const { maxBytes, ...rest } = of;
  try {
    const stored = store(value, root);
    if (stored.text.length <= maxBytes) return { stored };
    const message = `${root} takes ${stored.text.length} bytes, more than the ${maxBytes} allowed; keep large data outside and return a reference`;
    return { failure: engineFailure("ValueTooLargeError", message, rest) };
  } catch (error) {
    return { failure: toFailure(error, rest) };
  }
}
