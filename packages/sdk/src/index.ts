// The authoring API. Adding a line makes something public.

export type { Duration, Failure } from "@engine/contract";
export { now, pause, progress, random, uuid } from "./built-ins.ts";
export { type BranchOptions, map, parallel, pipeline } from "./combinators.ts";
export type { WorkflowContext } from "./context.ts";
export type { LocalRunOptions } from "./local-host.ts";
export type { RetryOptions, TaskContext, TaskOptions, WorkflowOptions } from "./options.ts";
export type { Settled } from "./replay/branches.ts";
export type { RunResult } from "./run-result.ts";
export type { StandardSchema } from "./standard-schema.ts";
export { type Task, task } from "./task.ts";
export {
  CancelledError,
  InvalidInputError,
  InvalidOutputError,
  TaskError,
  TaskTimeoutError,
  TerminalError,
  UnencodableValueError,
  ValueTooLargeError,
} from "./task-error.ts";
export { type AnyWorkflow, isWorkflow, type Workflow, workflow } from "./workflow.ts";
