import * as z from "zod";

/**
 * What went wrong inside a workflow or task, as data of the log (EXE-35): no stack, no path, so
 * that it replays and travels. `type` is the error's class name; `code` is set for failures the
 * engine itself makes. `cause` nests at most five deep.
 */
export interface Failure {
  type: string;
  code: string | null;
  message: string;
  retryable: boolean;
  details: Record<string, unknown> | null;
  cause: Failure | null;
  attempts: number;
  task_call_id: string | null;
}

export const Failure: z.ZodType<Failure> = z.object({
  type: z.string(),
  code: z.string().nullable(),
  message: z.string(),
  retryable: z.boolean(),
  details: z.record(z.string(), z.unknown()).nullable(),
  get cause() {
    return Failure.nullable();
  },
  attempts: z.int().nonnegative(),
  task_call_id: z.string().nullable(),
});

/** Failure types the engine makes, with their codes (EXE-37). */
export const ENGINE_FAILURES = {
  TaskTimeoutError: { code: "timeout", retryable: true },
  InvalidInputError: { code: "invalid_input", retryable: false },
  InvalidOutputError: { code: "invalid_output", retryable: false },
  UnencodableValueError: { code: "unencodable_value", retryable: false },
  ValueTooLargeError: { code: "value_too_large", retryable: false },
  NondeterminismError: { code: "nondeterminism", retryable: false },
  HistoryLimitError: { code: "history_limit", retryable: false },
  CancelledError: { code: "cancelled", retryable: false },
  WorkflowTimeoutError: { code: "timeout", retryable: false },
  SecretMissingError: { code: "secret_missing", retryable: false },
  ConfigMissingError: { code: "config_missing", retryable: false },
  NotFoundError: { code: "not_found", retryable: false },
  ChildFailedError: { code: "child_failed", retryable: false },
  ChildCancelledError: { code: "child_cancelled", retryable: false },
  DepthLimitError: { code: "depth_limit", retryable: false },
  StoredValueMissingError: { code: "stored_value_missing", retryable: false },
  TransientUnsupportedError: { code: "transient_unsupported", retryable: false },
  TaskNotAuthorizedError: { code: "permission_denied", retryable: false },
  WorkerLostError: { code: "worker_lost", retryable: false },
  WorkflowLoadError: { code: "workflow_load", retryable: false },
} as const satisfies Record<string, { code: string; retryable: boolean }>;
export type EngineFailureType = keyof typeof ENGINE_FAILURES;

export function engineFailure(
  type: EngineFailureType,
  message: string,
  rest: Partial<Pick<Failure, "details" | "cause" | "attempts" | "task_call_id">> = {},
): Failure {
  return {
    type,
    ...ENGINE_FAILURES[type],
    message,
    details: null,
    cause: null,
    attempts: 1,
    task_call_id: null,
    ...rest,
  };
}
