/** What a process needs to serve a table of routes; every line here is public. */
export type { AuthorizationRequest, Authorize, Caller, Rights, Seen } from "./authorize.ts";
export { type App, type AppOptions, createApp } from "./create-app.ts";
export { answering, answeringLine } from "./failpoints.ts";
export type {
  Call,
  Handler,
  Handlers,
  Look,
  Looks,
  RouteTable,
  TableHandlers,
} from "./handlers.ts";
export type { HttpLog } from "./http-log.ts";
export { closeApp, leave } from "./leave.ts";
export { type Address, type Listening, listen } from "./listen.ts";
export type { Neighbours } from "./neighbourhood.ts";
export type { Subject } from "./permit.ts";
export {
  answer,
  type EncodedFrame,
  type LongFrame,
  lines,
  type ReplyHeaders,
  raw,
  type StreamReply,
  stream,
} from "./reply.ts";
export { hasLeft } from "./request-call.ts";
