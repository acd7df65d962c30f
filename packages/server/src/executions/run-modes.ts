/** Starts and resumes as surfaces offer them: answered at once, after the end, or by a stream (EXE-81). */
import type { ExecutionRow, RunMode } from "@engine/contract";
import type { Changed } from "@engine/store";
import type { Executions, Followed, Settled } from "./executions.ts";
import type { Follower } from "./follower.ts";
import type { FrameData } from "./record.ts";
import type { FollowOptions, ResumeRequest, StartRequest } from "./requests.ts";
import { rowAsCreated } from "./row-after.ts";
import type { WaitOptions } from "./waiters.ts";

/** How a caller wants to be answered. */
export interface Manner extends Pick<FollowOptions, "detailed" | "events"> {
  /** Seconds a sync call waits, and a stream lasts. */
  readonly timeout?: number | undefined;
  /** A caller who leaves wants the execution cancelled. */
  readonly cancel_on_disconnect?: boolean | undefined;
}

/** The caller who is answered. */
export interface Asker {
  readonly principal: string | null;
  /** Fires when nobody waits for the answer any more. Called only where something waits. */
  readonly signal: () => AbortSignal;
  /** Whether it was the caller who has gone, rather than this server. */
  readonly hasLeft: () => boolean;
}

/** Whether an answer is about an execution that was there before the start (EXE-84). */
export interface Replay {
  readonly existing: boolean;
}

/** How one surface tells its callers of executions: the run routes, the basic API, a service, a tool. */
export interface Projection<Answer, Streamed> {
  readonly frames: FrameData;
  /** An asynchronous start or resume went through. */
  readonly accepted: (row: ExecutionRow, replay: Replay) => Answer | Promise<Answer>;
  /** A synchronous one has ended or paused, or is still under way when the time is over. */
  readonly settled: (row: ExecutionRow, replay: Replay) => Answer | Promise<Answer>;
  readonly followed: (follower: Follower, replay: Replay) => Streamed;
}

export interface Asked<Answer, Streamed, Mode extends RunMode = RunMode> {
  readonly mode: Mode;
  readonly manner: Manner;
  readonly asker: Asker;
  /** Longest wait of a sync call in seconds; 0 = none. */
  readonly longestSeconds: number;
  readonly as: Projection<Answer, Streamed>;
}

/** The answer of a route; one that offers no stream never has one. */
type Told<Answer, Streamed, Mode> = Answer | ("stream" extends Mode ? Streamed : never);

/** Starts an execution. With a known key the answer is about the execution that is there (EXE-84). */
export function run<Answer, Streamed, Mode extends RunMode>(
  executions: Executions,
  request: StartRequest,
  asked: Asked<Answer, Streamed, Mode>,
): Promise<Told<Answer, Streamed, Mode>> {
  return answered(executions, asked, {
    now: () => executions.start(request),
    wait: (options) => executions.startAndWait(request, options),
    follow: (options) => executions.startAndFollow(request, options),
  });
}

export function resume<Answer, Streamed, Mode extends RunMode>(
  executions: Executions,
  request: ResumeRequest,
  asked: Asked<Answer, Streamed, Mode>,
): Promise<Told<Answer, Streamed, Mode>> {
  return answered(executions, asked, {
    now: () => executions.resume(request),
    wait: (options) => executions.resumeAndWait(request, options),
    follow: (options) => executions.resumeAndFollow(request, options),
  });
}

/**
 * Milliseconds a sync call waits: what the caller asks for, capped by the server (EXE-81).
 *
 * @param longestSeconds 0 = no cap.
 */
export function waitMs({ timeout = Infinity }: Manner, longestSeconds: number): number | undefined {
  const seconds = Math.min(timeout, longestSeconds === 0 ? Infinity : longestSeconds);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

/** Milliseconds a stream lasts: no limit unless one is asked for. */
export function streamMs(manner: Manner, longestSeconds: number): number | undefined {
  return manner.timeout === undefined ? undefined : waitMs(manner, longestSeconds);
}

/** One change of an execution, in each of the modes. */
interface Doing {
  readonly now: () => Promise<Changed>;
  readonly wait: (options: WaitOptions) => Promise<Settled>;
  readonly follow: (options: FollowOptions) => Promise<Followed>;
}

async function answered<Answer, Streamed, Mode extends RunMode>(
  executions: Executions,
  { mode, manner, asker, longestSeconds, as }: Asked<Answer, Streamed, Mode>,
  doing: Doing,
): Promise<Told<Answer, Streamed, Mode>> {
  const { cancel_on_disconnect, detailed, events } = manner;
  const cancelIfLeft = async (execution_id: string) => {
    if (!cancel_on_disconnect || !asker.hasLeft()) return;
    await executions.cancelForLeaver(execution_id, asker.principal);
  };
  if (mode === "async") {
    const changed = await doing.now();
    return as.accepted(rowAsCreated(changed), { existing: changed.existing === true });
  }
  const signal = asker.signal();
  if (mode === "sync") {
    const timeoutMs = waitMs(manner, longestSeconds);
    const { row, existing } = await doing.wait({ timeoutMs, signal });
    await cancelIfLeft(row.execution_id);
    return as.settled(row, { existing });
  }
  const timeoutMs = streamMs(manner, longestSeconds);
  const options = { detailed, events, timeoutMs, signal, frames: as.frames };
  const { follower, existing } = await doing.follow(options);
  follower.onClosed(() => void cancelIfLeft(follower.execution_id));
  // Here the mode is `stream`, but the compiler does not see that in the type of the answer.
  return as.followed(follower, { existing }) as Told<Answer, Streamed, Mode>;
}
