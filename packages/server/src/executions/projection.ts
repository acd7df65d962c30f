/** How one surface tells its callers of executions: the run routes, the basic API, a service, a tool. */
import type { ExecutionRow } from "@engine/contract";
import type { Follower } from "./follower.ts";
import type { FrameData } from "./frame-data.ts";

/** An answer to a start: whether it is about an execution that was there before (EXE-84). */
export interface Replay {
  readonly existing: boolean;
}

export interface Projection<Answer, Streamed> {
  readonly frames: FrameData;
  /** An asynchronous start or resume went through. */
  readonly accepted: (row: ExecutionRow, replay: Replay) => Answer | Promise<Answer>;
  /** A synchronous one has ended or paused, or is still under way when the time is over. */
  readonly settled: (row: ExecutionRow, replay: Replay) => Answer | Promise<Answer>;
  readonly followed: (follower: Follower, replay: Replay) => Streamed;
}
