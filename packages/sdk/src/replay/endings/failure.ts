import {
  EngineError,
  encode,
  engineFailure,
  type Failure,
  toPlain,
  UnencodableValue,
  withPlace,
} from "@engine/contract";
import { TaskError, TerminalError, taskError } from "../../task-error.ts";
import type { Host } from "../port.ts";
import { changed, keepStack, originOf } from "./failure-stacks.ts";

const MAX_CAUSES = 5;

export interface FailureOf {
  readonly attempts?: number;
  readonly task_call_id?: string | null;
  /**
   * Finds where an error was made. Absent for failures that code receives anew in each pass: those must
   * not name a line, since another version has the code on another one.
   */
  readonly traceOf?: Host["traceOf"] | undefined;
}

/** What was thrown, as data for the log (EXE-35). The only way from an error into a Failure. */
export function toFailure(error: unknown, { traceOf, ...of }: FailureOf = {}, depth = 0): Failure {
  if (error instanceof TaskError) {
    const origin = traceOf && originOf(error);
    if (origin === undefined) return changed(error.failure, of);
    const { attempts, task_call_id } = error.failure;
    return changed(toFailure(origin, { traceOf }, depth), { attempts, task_call_id, ...of });
  }
  const rest = { attempts: of.attempts ?? 1, task_call_id: of.task_call_id ?? null };
  if (!(error instanceof Error)) {
    return { ...plain("NonError", textOf(error)), ...rest };
  }
  const cause =
    error.cause === undefined || depth >= MAX_CAUSES
      ? null
      : toFailure(error.cause, { attempts: 1, task_call_id: null, traceOf }, depth + 1);
  const failure = { ...untraced(error), cause, ...rest };
  const trace = traceOf?.(error);
  return keepStack(withPlace(failure, trace?.at), trace?.stack ?? []);
}

function untraced(error: Error): Failure {
  if (error instanceof UnencodableValue) {
    const details = { path: error.path };
    return engineFailure("UnencodableValueError", error.message, { details });
  }
  if (error instanceof TerminalError) {
    const details = error.details && detailsOf(error.details);
    return { ...plain(error.type, error.message), retryable: false, details };
  }
  if (error instanceof EngineError) {
    return { ...plain("EngineError", error.message), code: error.code, retryable: false };
  }
  return plain(className(error), error.message);
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

/**
 * Details are plain JSON, whatever they were given as. What cannot be stored is said to be missing
 * rather than failing the failure.
 */
function detailsOf(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    return toPlain(encode(details, "details")) as Record<string, unknown>;
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

/** The error that the caller of a call that was given up catches. */
export function cancelled({ id }: { readonly id: string }): Error {
  const failure = engineFailure("CancelledError", `${id} was given up`, { task_call_id: id });
  return taskError(failure);
}
