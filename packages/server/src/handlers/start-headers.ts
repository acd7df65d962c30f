import type { StartRequest } from "../executions/requests.ts";

/** The headers of every route that starts an execution, as they were read. */
export interface StartHeaders {
  readonly "idempotency-key"?: string | undefined;
  readonly "x-engine-preferred-worker"?: string | undefined;
  readonly "x-engine-require-worker"?: string | undefined;
}

export function startHeaders(
  headers: StartHeaders,
): Pick<StartRequest, "idempotency_key" | "preferred_worker" | "required_worker"> {
  return {
    idempotency_key: headers["idempotency-key"],
    preferred_worker: headers["x-engine-preferred-worker"],
    required_worker: headers["x-engine-require-worker"],
  };
}
