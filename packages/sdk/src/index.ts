// The authoring API. Adding a line makes something public.

export type { Duration, Failure, HookEnvelope, RoutingInput } from "@engine/contract";
export {
  type CallOptions,
  call,
  getConfig,
  now,
  type PauseOptions,
  pause,
  progress,
  random,
  serviceSocket,
  signal,
  sleep,
  uuid,
} from "./built-ins.ts";
export { type BranchOptions, map, parallel, pipeline } from "./combinators.ts";
export type { WorkflowContext } from "./context.ts";
export { type GraphNode, graph } from "./graph.ts";
export type { LocalRunOptions } from "./local-host.ts";
export type {
  CacheOptions,
  FairnessOptions,
  HookOptions,
  OutputStorage,
  PlacementOptions,
  RetryOptions,
  TaskContext,
  TaskOptions,
  TaskRequestOptions,
  WorkflowOptions,
  WorkflowRequestOptions,
} from "./options.ts";
export type { Settled } from "./replay/calls/branches.ts";
export type { RunResult } from "./run-result.ts";
export {
  type CronOptions,
  cron,
  type IntervalOptions,
  interval,
  once,
  type Schedule,
  type ScheduleOptions,
} from "./schedule.ts";
export type { StandardSchema } from "./standard-schema.ts";
export { type Task, task } from "./task.ts";
export {
  CancelledError,
  ChildCancelledError,
  ChildFailedError,
  ConfigMissingError,
  DepthLimitError,
  InvalidInputError,
  InvalidOutputError,
  NotFoundError,
  SecretMissingError,
  ServiceNotGrantedError,
  TaskError,
  TaskNotAuthorizedError,
  TaskTimeoutError,
  TerminalError,
  TransientUnsupportedError,
  UnencodableValueError,
  ValueTooLargeError,
} from "./task-error.ts";
export { type AnyWorkflow, isWorkflow, type Workflow, workflow } from "./workflow.ts";
