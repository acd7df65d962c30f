import { type Route, routes } from "@engine/contract";
import type { FrameStream } from "./frame-stream.ts";
import type { RequestInput, Target } from "./request.ts";
import { type CallOptions, callOf } from "./route-call.ts";
import type { Fetch } from "./transport.ts";

/** Opens the stream of an execution that exists already (EXE-93). */
export type Follow = (executionId: string, options?: CallOptions) => Promise<FrameStream>;

/** The row that reads an execution, asked for a stream. */
const row: Route = { ...routes.executions.get, frames: routes.executions.run.frames };

export function createFollow(target: Target, fetch: Fetch): Follow {
  // Every row with frames has it.
  const { stream } = callOf(row, target, fetch) as {
    stream: (input: RequestInput, options?: CallOptions) => Promise<FrameStream>;
  };
  return (id, options) => stream({ params: { id }, query: { mode: "stream" } }, options);
}
