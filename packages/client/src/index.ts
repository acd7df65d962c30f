// The client's public surface. Adding a line makes something public.

// The client and its routes
export { trustCaFile } from "./authorities.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
// Workflows
export type {
  CancelOptions,
  ExecutionHandle,
  ResultOptions,
  ResumeOptions,
  SignalReceipt,
} from "./execution-handle.ts";
export { type Frame, FrameStream } from "./frame-stream.ts";
export type { Plain } from "./plain.ts";
export type { CallOptions, RouteCall, RouteCalls } from "./route-call.ts";
export type { StartOptions } from "./start-request.ts";
// The world, to be replaced in tests
export type { Timing } from "./timing.ts";
export type { Fetch, FetchRequest, FetchResponse } from "./transport.ts";
export type { RunOptions, WorkflowClient } from "./workflow-client.ts";
export {
  ResultTimeoutError,
  WorkflowCancelledError,
  WorkflowFailedError,
  WorkflowPausedError,
} from "./workflow-errors.ts";
export type {
  AnyWorkflowShape,
  InputOf,
  OutputOf,
  WorkflowShape,
} from "./workflow-shape.ts";
