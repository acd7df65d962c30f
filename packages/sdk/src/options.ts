import type { Duration, Failure } from "@engine/contract";
import type { StandardSchema } from "./standard-schema.ts";

/** When and how often a failed attempt is repeated (EXE-4, EXE-38). */
export interface RetryOptions {
  /** Attempts in all, the first included: 1 to 1000. Default 1. */
  readonly maxAttempts?: number;
  /** Before the second attempt. Default `"1s"`. */
  readonly delay?: Duration;
  /** Each further delay is this many times the one before. At least 1, default 2. */
  readonly backoff?: number;
  /** No delay is longer. Default `"10m"`. */
  readonly maxDelay?: Duration;
  /** Return false to give up. Not asked after a {@link TerminalError}. */
  readonly retryIf?: (failure: Failure) => boolean;
}

/** What a task's function, fallback and rollback get beside the input (EXE-5). */
export interface TaskContext {
  readonly executionId: string;
  /** Names this call in the log; the same in every attempt and after every crash. */
  readonly taskCallId: string;
  readonly name: string;
  /** From 1. */
  readonly attempt: number;
  /** Aborts when the attempt times out, a sibling fails or the workflow ends. */
  readonly signal: AbortSignal;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** In a fallback or rollback: what went wrong. Else null. */
  readonly failure: Failure | null;
  /** `<execution_id>:<task_call_id>`: hand it to services that recognise repeated requests. */
  readonly idempotencyKey: string;
}

export interface TaskOptions<Input, Output> {
  /** Default: the function's own name. */
  readonly name?: string;
  readonly description?: string;
  /** Checked before the first attempt; the parsed value is what the function gets. */
  readonly input?: StandardSchema<unknown, Input>;
  /** Checked when the function returns; the parsed value is what the caller gets. */
  readonly output?: StandardSchema<unknown, Output>;
  readonly retry?: RetryOptions;
  /** Per attempt. */
  readonly timeout?: Duration;
  /** Gives the result once every attempt has failed. */
  readonly fallback?: (
    input: Input,
    failure: Failure,
    ctx: TaskContext,
  ) => Output | Promise<Output>;
  /** Undoes what failed attempts did; runs before the fallback. */
  readonly rollback?: (input: Input, ctx: TaskContext) => void | Promise<void>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface WorkflowOptions<Input, Output> {
  /** Default: the function's own name. */
  readonly name?: string;
  /** Default `"default"`. */
  readonly namespace?: string;
  readonly description?: string;
  /** Checked before the body runs; the parsed value is what it gets. */
  readonly input?: StandardSchema<unknown, Input>;
  /** Checked before the execution completes. */
  readonly output?: StandardSchema<unknown, Output>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}
