/** What a process needs to serve a table of routes; every line here is public. */
export type { AuthorizationRequest, Authorize, Caller } from "./authorize.ts";
export type { RunList } from "./bind.ts";
export { bodyLimitOf } from "./body-limit.ts";
export { unreadableNetworks } from "./client-address.ts";
export { CONNECTION, refuseExpectation, refuseUnreadable } from "./connection.ts";
export { type App, type AppOptions, createApp } from "./create-app.ts";
export { answering, answeringLine } from "./failpoints.ts";
export { type FetchAnswer, fetchAnswer } from "./fetch-answer.ts";
export type {
  Before,
  Befores,
  Call,
  Handler,
  Handlers,
  Look,
  Looks,
  RouteTable,
  TableHandlers,
} from "./handlers.ts";
export { headerValues } from "./header-values.ts";
export { inTurn } from "./in-turn.ts";
export { type InnerFetch, innerFetch, THIS_SERVER } from "./inner-requests.ts";
export { closeApp, leave } from "./leave.ts";
export { type Address, clientUrl, type Listener, type Listening, listen } from "./listen.ts";
export { Messages } from "./messages.ts";
export type { Neighbours } from "./neighbourhood.ts";
export { denied, type Subject } from "./permit.ts";
export { RateLimits } from "./rate-limits.ts";
export { type Redaction, type Redactor, redacted } from "./redaction.ts";
export { type HttpLog, refusalHeaders } from "./refusal.ts";
export {
  answer,
  type EncodedFrame,
  type LongFrame,
  type ProtocolReply,
  type ReplyHeaders,
  type StreamReply,
} from "./reply.ts";
export { hasLeft } from "./request-call.ts";
export { SECURITY_HEADERS } from "./security-headers.ts";
export { Tls, tlsProblems } from "./tls.ts";
export type { Read, Refused } from "./told-of.ts";
