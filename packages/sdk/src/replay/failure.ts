import {
  EngineError,
  encode,
  engineFailure,
  type Failure,
  UnencodableValue,
} from "@engine/contract";
import { TaskError, TerminalError, taskError } from "../task-error.ts";

const MAX_CAUSES = 5;

export interface FailureOf {
  readonly attempts?: number;
  readonly task_call_id?: string | null;
}

/** What was thrown, as data for the log (EXE-35). The only way from an error into a Failure. */
export function toFailure(error: unknown, of: FailureOf = {}, depth = 0): Failure {
  const rest = { attempts: of.attempts ?? 1, task_call_id: of.task_call_id ?? null };
  if (error instanceof TaskError) return { ...error.failure, ...of };
  if (error instanceof UnencodableValue) {
    return engineFailure("UnencodableValueError", error.message, {
      ...rest,
      details: { path: error.path },
    });
  }
  if (!(error instanceof Error)) {
    return { ...plain("NonError", textOf(error)), ...rest };
  }
  const cause =
    error.cause === undefined || depth >= MAX_CAUSES
      ? null
      : toFailure(error.cause, { attempts: 1, task_call_id: null }, depth + 1);
  if (error instanceof TerminalError) {
    const details = error.details && detailsOf(error.details);
    return { ...plain(error.type, error.message), retryable: false, details, cause, ...rest };
  }
  if (error instanceof EngineError) {
    const failure = plain("EngineError", error.message);
    return { ...failure, code: error.code, retryable: false, cause, ...rest };
  }
  return { ...plain(className(error), error.message), cause, ...rest };
}

function plain(type: string, message: string): Failure {
  return {
    type,
    code: null,
    message,
    retryable: true,
    details: null,
    cause: null,
    attempts: 1,
    task_call_id: null,
  };
}

/** Details that cannot be stored are said to be missing rather than failing the failure. */
function detailsOf(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    return encode(details, "details") as Record<string, unknown>;
  } catch (error) {
    return { unencodable: error instanceof Error ? error.message : String(error) };
  }
}

function className(error: Error): string {
  const { name } = error.constructor;
  return name && name !== "Error" ? name : error.name || "Error";
}

function textOf(value: unknown): string {
  // JSON has no form for it.
  if (typeof value === "bigint") return `${value}n`;
  try {
    return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** One that the author's code may change: the log's stays as it is. */
export function copyOfFailure(failure: Failure): Failure {
  return JSON.parse(JSON.stringify(failure)) as Failure;
}

/** What the caller of a call that was given up catches. */
export function cancelled({ id }: { readonly id: string }): Error {
  const failure = engineFailure("CancelledError", `${id} was given up`, { task_call_id: id });
  return taskError(failure);
}
