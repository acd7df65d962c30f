import type { ExecutionRow, WorkflowRecord } from "@engine/contract";

/** The execution that makes a call. Its worker is asked first to take the child. */
export type CallingExecution = Pick<
  ExecutionRow,
  "execution_id" | "namespace" | "workflow" | "module_hash" | "depth" | "priority" | "worker"
>;

/** Whether an execution may start that workflow with `call` (EXE-57). */
export type AuthorizeCall = (call: {
  readonly caller: CallingExecution;
  readonly target: WorkflowRecord;
}) => boolean | Promise<boolean>;
