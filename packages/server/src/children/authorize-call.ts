import type { ExecutionRow, WorkflowRecord } from "@engine/contract";

/** The execution that makes a call. */
export interface CallingExecution
  extends Pick<
    ExecutionRow,
    "execution_id" | "namespace" | "workflow" | "module_hash" | "depth" | "priority"
  > {
  /** Its worker, which is asked first to take the child. */
  readonly worker: string | null;
}

/** Whether an execution may start that workflow with `call` (EXE-57). */
export type AuthorizeCall = (call: {
  readonly caller: CallingExecution;
  readonly target: WorkflowRecord;
}) => boolean | Promise<boolean>;
