import { type ExecutionRow, type Failure, isTerminal } from "@engine/contract";
import type { Evidence, ExecutionAtRest } from "../evidence.ts";
import { copiedUpTo } from "./recorded-calls.ts";

/** Failures by which the engine ends an execution, whatever its code was at. */
const BY_ENGINE: ReadonlySet<string> = new Set([
  ...["WorkerCrashLoopError", "WorkflowTimeoutError", "ParkTimeoutError", "WorkerLostError"],
  ...["WorkflowLoadError", "HistoryLimitError", "AffinityResolutionError"],
]);

function endedByEngine({ state, failure }: ExecutionRow): boolean {
  return (
    state === "FAILED" && failure !== null && failure.code !== null && BY_ENGINE.has(failure.type)
  );
}

/**
 * Executions that end as their code says: neither they nor a child was ended from outside, nor a child
 * whose end a fork has copied.
 */
export function undisturbed({ executions }: Evidence): readonly ExecutionRow[] {
  const rows = executions.map(({ row }) => row);
  const byId = new Map(rows.map((row) => [row.execution_id, row]));
  const disturbed = new Set<string>();
  for (const row of rows) {
    if (row.state !== "CANCELLED" && !endedByEngine(row)) continue;
    for (let at: ExecutionRow | undefined = row; at; at = byId.get(at.parent_id ?? "")) {
      disturbed.add(at.execution_id);
    }
  }
  for (const execution of executions) {
    const { execution_id, forked_from } = execution.row;
    if (!forked_from || !disturbed.has(forked_from.execution_id)) continue;
    if (hasCopiedFailure(execution)) disturbed.add(execution_id);
  }
  return rows.filter((row) => isTerminal(row.state) && !disturbed.has(row.execution_id));
}

/** Whether a child had failed, or had been cancelled, for the execution that it was forked from. */
function hasCopiedFailure(execution: ExecutionAtRest): boolean {
  const last = copiedUpTo(execution);
  return execution.log.some(
    ({ event: { seq, kind, type } }) => seq <= last && kind === "call" && type === "TASK_FAILED",
  );
}

/** The message that an author wrote, through whatever calls it has come. */
export function rootOf(failure: Failure): string {
  let root = failure;
  while (root.cause) root = root.cause;
  return root.message;
}
