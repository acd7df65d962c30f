export type { AuthorizationRequest, Authorize, Caller } from "@engine/http";
export { createEngine, type Engine } from "./engine.ts";
export type { EnginePorts, SetTimer } from "./engine-ports.ts";
export type { Executions } from "./executions/executions.ts";
export type { Follower, FollowPart } from "./executions/follower.ts";
export { toBasic, toInspected, toRecord, toRecordedEvent, toSummary } from "./executions/record.ts";
export type {
  CancelRequest,
  FollowOptions,
  ForkRequest,
  ResumeRequest,
  SignalRequest,
  StartRequest,
} from "./executions/requests.ts";
export type { WaitOptions } from "./executions/waiters.ts";
export { SERVER_FAILPOINTS } from "./failpoints.ts";
export type { Log } from "./log.ts";
export { type Server, type ServerOptions, startServer } from "./server.ts";
