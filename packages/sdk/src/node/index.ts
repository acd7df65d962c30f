// The replay core on Node, for processes that run workflows: worker, local run, tests.

export { definedFacts } from "../defined-facts.ts";
export { type EmbeddedCalls, resolveEmbeddedCall } from "../embedded-call.ts";
export { type LocalHost, type LocalRunOptions, setLocalHost } from "../local-host.ts";
export { refusedReply } from "../refused-reply.ts";
export { startExecution } from "../replay/execution.ts";
export type {
  CheckpointReply,
  Delta,
  EmbeddedLimits,
  Ended,
  ExecutionInfo,
  ExecutionPort,
  Host,
  LocalServices,
  RunningExecution,
  RunOptions,
  TaskRights,
} from "../replay/port.ts";
export { type RunResult, runResult } from "../run-result.ts";
export { findWorkflow, isWorkflow } from "../workflow.ts";
export { type NodeHostOptions, nodeHost } from "./host.ts";
export { machineTime } from "./machine-time.ts";
export { type ReplayVerdict, replayHistory } from "./replay-history.ts";
export { installReplaySafeGlobals } from "./replay-safe/install.ts";
export { installSourceStacks } from "./source-stacks.ts";
export { traceOf } from "./trace-of.ts";
