import type { Failure } from "@engine/contract";

/**
 * What a caller of a task catches (EXE-36): built from the Failure in the log, so that a first run
 * and a replay catch equal errors. `failure` has the type, the number of attempts and the details.
 *
 * @example
 * ```ts
 * try {
 *   await charge(order);
 * } catch (error) {
 *   if (error instanceof TaskError && error.failure.type === "CardDeclined") return null;
 *   throw error;
 * }
 * ```
 */
export class TaskError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message, failure.cause ? { cause: taskError(failure.cause) } : undefined);
    this.name = failure.code === null ? "TaskError" : failure.type;
    this.failure = failure;
  }
}

/** An attempt took longer than the task's `timeout`. */
export class TaskTimeoutError extends TaskError {}
/** An argument or a workflow's input does not fit its schema. */
export class InvalidInputError extends TaskError {}
/** A result does not fit the `output` schema. */
export class InvalidOutputError extends TaskError {}
/** A value has no stored form; the message names the path inside it. */
export class UnencodableValueError extends TaskError {}
/** A value exceeds the largest size the engine keeps. */
export class ValueTooLargeError extends TaskError {}
/** The call was given up: a sibling failed, or the workflow ended while it was open. */
export class CancelledError extends TaskError {}

/** A declared secret does not exist. */
export class SecretMissingError extends TaskError {}
/** A declared or asked for config is not set. */
export class ConfigMissingError extends TaskError {}
/** A workflow or execution that a call names does not exist. */
export class NotFoundError extends TaskError {}
/** A child failed: `cause` is its failure, `failure.details.execution_id` its id. */
export class ChildFailedError extends TaskError {}
/** A child was cancelled. */
export class ChildCancelledError extends TaskError {}
/** Children are nested deeper than the engine allows. */
export class DepthLimitError extends TaskError {}
/** A transient workflow used what only a durable one has. */
export class TransientUnsupportedError extends TaskError {}
/** The caller lacks a permission that the call needs. */
export class TaskNotAuthorizedError extends TaskError {}
/** The worker does not offer a local service, or it is not granted to it; `failure.details` says which. */
export class ServiceNotGrantedError extends TaskError {}

const SUBCLASSES: Readonly<Record<string, new (failure: Failure) => TaskError>> = {
  TaskTimeoutError,
  InvalidInputError,
  InvalidOutputError,
  UnencodableValueError,
  ValueTooLargeError,
  CancelledError,
  SecretMissingError,
  ConfigMissingError,
  NotFoundError,
  ChildFailedError,
  ChildCancelledError,
  DepthLimitError,
  TransientUnsupportedError,
  TaskNotAuthorizedError,
  ServiceNotGrantedError,
};

export function taskError(failure: Failure): TaskError {
  const Class = failure.code === null ? undefined : SUBCLASSES[failure.type];
  return Class ? new Class(failure) : new TaskError(failure);
}

/**
 * Throw this in a task to end its retries at once (rollback and fallback still apply), or in a
 * workflow to fail it with a type and details of your own.
 *
 * @example
 * ```ts
 * throw new TerminalError("card declined", { type: "CardDeclined", details: { code: 51 } });
 * ```
 */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
  readonly type: string;
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(
    message: string,
    options: {
      type?: string;
      details?: Readonly<Record<string, unknown>>;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.type = options.type ?? "TerminalError";
    this.details = options.details ?? null;
  }
}
