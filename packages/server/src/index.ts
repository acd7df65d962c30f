export type { AuthorizationRequest, Authorize, Caller } from "@engine/http";
export { createEngine, type Engine } from "./engine.ts";
export type { EnginePorts, SetTimer } from "./engine-ports.ts";
export type { FollowPart } from "./executions/follower.ts";
export { toRecord } from "./executions/record.ts";
export { SERVER_FAILPOINTS } from "./failpoints.ts";
export type { Log } from "./log.ts";
export { type Server, type ServerOptions, startServer } from "./server.ts";
