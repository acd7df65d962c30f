import { routes } from "@engine/contract";
import type { FrameStream } from "./frame-stream.ts";
import type { Target } from "./request.ts";
import { type CallOptions, callOf, type RouteCalls } from "./route-call.ts";
import type { Fetch } from "./transport.ts";

/** Opens the stream of an execution that exists already (EXE-93). */
export type Follow = (executionId: string, options?: CallOptions) => Promise<FrameStream>;

export function createFollow(target: Target, fetch: Fetch): Follow {
  const get = callOf(routes.executions.get, target, fetch) as RouteCalls["executions"]["get"];
  return (id, options) => get.stream({ params: { id }, query: { mode: "stream" } }, options);
}
