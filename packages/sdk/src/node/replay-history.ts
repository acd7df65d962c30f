import {
  EngineError,
  type EngineFailureType,
  type ExecutionLimits,
  engineFailure,
  type Failure,
  type History,
} from "@engine/contract";
import { startExecution } from "../replay/execution.ts";
import type { CallRef, Host, TaskServices } from "../replay/port.ts";
import type { AnyWorkflow } from "../workflow.ts";
import { nodeHost } from "./host.ts";

/** What became of a recorded history under new code. */
export type ReplayVerdict =
  | { readonly result: "ok" }
  | { readonly result: "diverged"; readonly failure: Failure }
  | { readonly result: "unverifiable"; readonly reason: string };

const LIMITS: ExecutionLimits = {
  sibling_grace: 0,
  inline_wait: 0,
  rollback_timeout: 0,
  max_events: Number.MAX_SAFE_INTEGER,
  inline_value_bytes: Number.MAX_SAFE_INTEGER,
  max_value_bytes: Number.MAX_SAFE_INTEGER,
};
const ENDS: ReadonlySet<string> = new Set([
  "WORKFLOW_COMPLETED",
  "WORKFLOW_FAILED",
  "WORKFLOW_CANCELLED",
]);
/** Failures by which the engine itself ends an execution; its code would have gone on. */
const ENGINE_ENDS: ReadonlySet<string> = new Set<EngineFailureType>([
  "HistoryLimitError",
  "NondeterminismError",
  "ParkTimeoutError",
  "StoredValueMissingError",
  "WorkerCrashLoopError",
  "WorkerLostError",
  "WorkflowLoadError",
  "WorkflowTimeoutError",
]);
/** What stands in a history of an earlier release, which did not count them, for a value that may not be shown. */
const MASK = "[REDACTED";

/**
 * Replays a recorded execution on code that may have changed since, without running a task or
 * writing anything: would running executions survive a deploy of it (EXE-28, EXE-95)?
 *
 * `unverifiable` means that the history lacks what the code might decide by.
 */
export async function replayHistory(
  workflow: AnyWorkflow,
  { execution, seed, events, masked }: History,
  options: { readonly host?: Host; readonly services?: Partial<TaskServices> } = {},
): Promise<ReplayVerdict> {
  if (execution.transient) {
    return { result: "unverifiable", reason: "a transient execution records none of its calls" };
  }
  const last = events.at(-1);
  const hasEnded = last !== undefined && ENDS.has(last.type);
  const history = hasEnded ? events.slice(0, -1) : events;
  if (masked ?? JSON.stringify(history).includes(MASK)) {
    return { result: "unverifiable", reason: "a value that the code may read was masked" };
  }
  let verdict: ReplayVerdict = { result: "unverifiable", reason: "the replay came to no end" };
  const running = startExecution(workflow, {
    // Code from a file has no version.
    info: { ...execution, version: null, bundle: null, seed },
    history,
    limits: LIMITS,
    listen: false,
    host: options.host ?? nodeHost(),
    port: {
      services: { ...NO_SERVICES, ...options.services },
      progress() {},
      checkpoint: async () => ({ kind: "stale" }),
    },
    check: {
      replayed({ firstNew, isBodyOver }) {
        const isLonger = isOwnEnd(events) && !isBodyOver && firstNew !== undefined;
        verdict = isLonger ? { result: "diverged", failure: beyond(firstNew) } : { result: "ok" };
      },
      failed(failure) {
        verdict = failedAs(failure);
      },
    },
  });
  await running.ended;
  return verdict;
}

/** Whether the code itself came to the end: after a cancel it may have made calls that never began. */
function isOwnEnd(events: History["events"]): boolean {
  const last = events.at(-1);
  if (last?.type === "WORKFLOW_COMPLETED") return true;
  if (last?.type !== "WORKFLOW_FAILED") return false;
  return !ENGINE_ENDS.has((last.value as unknown as Failure).type);
}

function failedAs(failure: Failure): ReplayVerdict {
  if (failure.type === "NondeterminismError") return { result: "diverged", failure };
  return { result: "unverifiable", reason: failure.message };
}

function beyond(found: CallRef): Failure {
  const details = { position: null, expected: null, found };
  const message = `the execution had ended, the code goes on with ${found.task_call_id}`;
  return engineFailure("NondeterminismError", message, { details });
}

const notThere = (what: string) => () =>
  Promise.reject(new EngineError("not_found", `a replay check has no ${what}`));
const NO_SERVICES: TaskServices = {
  lookUp: notThere("cache"),
  keep: notThere("cache"),
  saveValue: notThere("storage"),
  loadValue: notThere("stored values: export the history from a server that has them"),
  secrets: notThere("secrets"),
  configs: notThere("configs"),
};
