import { type Failure, placeOf } from "@engine/contract";
import type { Call, TaskDefinition } from "../calls/call.ts";
import type { Host, RunOptions } from "../port.ts";
import { type FailureOf, toFailure } from "./failure.ts";
import { stackOf } from "./failure-stacks.ts";

/** Most places of failures that a copy names in the log: a body may let ten thousand tasks fail. */
const MOST_PLACES = 20;

/**
 * Where the code of a copy fails, and what the worker's own log is told of it. The execution's log has
 * every failure with its stack.
 */
export class Failures {
  readonly #run: RunOptions;
  /** Places that were named: the same place again would only say that there were more. */
  #said: Set<string> | undefined;

  constructor(run: RunOptions) {
    this.#run = run;
  }

  /** Finds where an error was made, for a failure that is recorded before any code receives it. */
  readonly traceOf: Host["traceOf"] = (error) => this.#run.host.traceOf(error);

  /** What was thrown as a failure that is recorded before any code receives it. */
  from(error: unknown, of: FailureOf = {}): Failure {
    return toFailure(error, { ...of, traceOf: this.traceOf });
  }

  /** @param what Which function of the task it was. */
  ofTask(call: Call, task: TaskDefinition, failure: Failure, what = "task"): void {
    // The function was told to give up, which is no fault of its own.
    if (failure.type === "CancelledError") return;
    this.#said ??= new Set();
    const key = `${what} ${task.name} ${failure.type} ${placeOf(failure)}`;
    if (this.#said.size === MOST_PLACES || this.#said.has(key)) return;
    this.#said.add(key);
    const isLast = this.#said.size === MOST_PLACES;
    const more = isLast ? "; further ones of this execution are in its own log only" : "";
    this.#tell(`a ${what} failed${more}`, failure, {
      task_call_id: call.id,
      attempt: failure.attempts,
      // The message may hold what the task is not to show.
      error: task.options.sensitive ? failure.type : textOf(failure),
    });
  }

  ofExecution(failure: Failure): void {
    const { type, task_call_id } = failure;
    // The failure of a call was named when the call failed, if it was to be named at all.
    const isOfCall = task_call_id !== null && stackOf(failure) === undefined;
    this.#tell("an execution failed", failure, {
      ...(task_call_id !== null && { task_call_id }),
      error: isOfCall ? type : textOf(failure),
    });
  }

  #tell(message: string, failure: Failure, of: Record<string, unknown>): void {
    const { host, info, check } = this.#run;
    if (check) return;
    const { execution_id, namespace, workflow } = info;
    const at = placeOf(failure);
    const stack = stackOf(failure)?.split("\n");
    host.failed(message, {
      execution_id,
      workflow: `${namespace}/${workflow}`,
      ...of,
      ...(at !== undefined && { at }),
      ...(stack && { stack }),
    });
  }
}

function textOf({ type, message }: Failure): string {
  return `${type}: ${message}`;
}
