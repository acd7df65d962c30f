import * as z from "zod";
import type { Encoded } from "../values/value.ts";

/**
 * What went wrong inside a workflow or task, as data of the log (EXE-35): no stack, no path of a
 * machine, so that it replays and travels. `type` is the error's class name; `code` is set for
 * failures the engine itself makes. `cause` nests at most five deep. `details` are the author's, and
 * `at`, the line of the author's code where it happened: see `failure-place.ts`.
 */
export const Failure = z.object({
  type: z.string(),
  code: z.string().nullable(),
  message: z.string(),
  retryable: z.boolean(),
  details: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      "what the author gave, or the engine; `at` is the line of the author's code where it happened, such as `lib/orders.ts:12:9`; answers of runs and resumes leave it out",
    ),
  get cause(): z.ZodNullable<typeof Failure> {
    return Failure.nullable();
  },
  attempts: z.int().nonnegative(),
  task_call_id: z.string().nullable(),
});
export type Failure = z.infer<typeof Failure>;

interface FailureRow {
  readonly code: string;
  /** Whether the task is tried again after it. */
  readonly retryable?: boolean;
  /** One sentence for `docs/errors.md`: when it happens. */
  readonly meaning: string;
}

const ROWS = {
  TaskTimeoutError: {
    code: "timeout",
    retryable: true,
    meaning: "An attempt took longer than the task's `timeout`.",
  },
  InvalidInputError: {
    code: "invalid_input",
    meaning: "The input does not fit the schema of the task or workflow.",
  },
  InvalidOutputError: {
    code: "invalid_output",
    meaning: "What the task or workflow returned does not fit its schema.",
  },
  UnencodableValueError: {
    code: "unencodable_value",
    meaning: "A value cannot be stored, such as a function; the message names its place.",
  },
  ValueTooLargeError: {
    code: "value_too_large",
    meaning:
      "A value takes more than `executions.max_value_bytes`, or more memory than a runner has.",
  },
  NondeterminismError: {
    code: "nondeterminism",
    meaning:
      "The code does other things than its log has; the message shows both and the likely fix.",
  },
  HistoryLimitError: {
    code: "history_limit",
    meaning: "The log has reached `executions.max_events`.",
  },
  CancelledError: {
    code: "cancelled",
    meaning: "The call was given up: its execution is cancelled, or a sibling has failed.",
  },
  WorkflowTimeoutError: {
    code: "timeout",
    meaning: "The execution took longer than the workflow's `timeout`.",
  },
  SecretMissingError: {
    code: "secret_missing",
    meaning: "A secret that the task asks for is not set.",
  },
  ConfigMissingError: {
    code: "config_missing",
    meaning: "A config that the task asks for is not set.",
  },
  NotFoundError: {
    code: "not_found",
    meaning: "What `call` or `pause` names, a workflow, a version or an execution, does not exist.",
  },
  ChildFailedError: {
    code: "child_failed",
    meaning: "A workflow started with `call` failed; `cause` is its failure.",
  },
  ChildCancelledError: {
    code: "child_cancelled",
    meaning: "A workflow started with `call` was cancelled.",
  },
  DepthLimitError: {
    code: "depth_limit",
    meaning: "`call`s are nested deeper than `executions.max_depth`.",
  },
  StoredValueMissingError: {
    code: "stored_value_missing",
    meaning: "A value that lies outside the log is gone from its storage.",
  },
  TransientUnsupportedError: {
    code: "transient_unsupported",
    meaning: "A transient workflow made a call that only a log can carry, such as `pause`.",
  },
  TaskNotAuthorizedError: {
    code: "permission_denied",
    meaning: "Whoever runs the workflow may not run this task.",
  },
  WorkerCrashLoopError: {
    code: "worker_crash_loop",
    meaning:
      "Workers lost the execution several times in a row without recording anything new; `details.attempts` lists them.",
  },
  ParkTimeoutError: {
    code: "park_timeout",
    meaning:
      "No worker took the execution within its `park_ttl`; the message says what it waited for.",
  },
  WorkerLostError: {
    code: "worker_lost",
    meaning: "A transient execution lost its worker, and has no log to go on from.",
  },
  AffinityResolutionError: {
    code: "affinity_resolution",
    meaning:
      "A term of the workflow's `affinity` reads an input that the execution does not have, or that gives no valid key; `details` has the term, the input and the reason.",
  },
  LimitDeadlockError: {
    code: "limit_deadlock",
    meaning:
      "Every place under a limit that the execution waits for is held by its own ancestors, which wait for it.",
  },
  ConcurrencyLimitedError: {
    code: "concurrency_limited",
    meaning: "A workflow started with `call` has no free place, and refuses what would wait.",
  },
  ServiceNotGrantedError: {
    code: "service_not_granted",
    meaning: "The worker does not offer the local service, or it was not granted to it.",
  },
  WorkflowLoadError: {
    code: "workflow_load",
    meaning:
      "The bundle does not load, or the server refused what it recorded; `details.reason` says which.",
  },
} satisfies Record<string, FailureRow>;
/** `type` of a failure that the engine makes; such a failure has a `code`. */
export type EngineFailureType = keyof typeof ROWS;
/** Failure types the engine makes, with their codes (EXE-37). `docs/errors.md` is printed from this table. */
export const ENGINE_FAILURES: Readonly<Record<EngineFailureType, FailureRow>> = ROWS;

/** A failure as the log holds it: it is JSON by itself. */
export function encodedFailure(failure: Failure): Encoded {
  return failure as unknown as Encoded;
}

/**
 * A failure that the engine makes, with the code and the retries of its type.
 *
 * @param message Says what was expected, what came and what to do.
 */
export function engineFailure(
  type: EngineFailureType,
  message: string,
  rest: Partial<Pick<Failure, "details" | "cause" | "attempts" | "task_call_id">> = {},
): Failure {
  const { code, retryable = false } = ENGINE_FAILURES[type];
  return {
    type,
    code,
    retryable,
    message,
    details: null,
    cause: null,
    attempts: 1,
    task_call_id: null,
    ...rest,
  };
}
