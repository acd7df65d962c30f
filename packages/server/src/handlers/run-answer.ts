import {
  type ExecutionRecord,
  type ExecutionRow,
  eventForCaller,
  type RecordedEvent,
  recordForCaller,
  type SseFrame,
  type State,
} from "@engine/contract";
import { type ReplyHeaders, type StreamReply, stream } from "@engine/http";
import type { Follower, FollowPart } from "../executions/follower.ts";

type RunStatus = 200 | 202 | 409 | 500;

export type RunAnswer<Body> = {
  [Status in RunStatus]: {
    readonly status: Status;
    readonly body: Body;
    readonly headers: ReplyHeaders;
  };
}[RunStatus];

const EXECUTION_ID = "x-engine-execution-id";

/** How a run or resume is answered, by the state it is in (EXE-81). */
export function runAnswer<Body>(row: ExecutionRow, body: Body): RunAnswer<Body> {
  const status = statusOf(row.state);
  const headers = status === 202 ? addressOf(row) : { [EXECUTION_ID]: row.execution_id };
  return { status, body, headers };
}

/** Which execution it is, and where to read it. */
export function addressOf({ execution_id, namespace, workflow }: ExecutionRow): ReplyHeaders {
  const location = `/workflows/${namespace}/${workflow}/status/${execution_id}`;
  return { [EXECUTION_ID]: execution_id, location };
}

function statusOf(state: State): RunStatus {
  if (state === "COMPLETED") return 200;
  if (state === "FAILED") return 500;
  return state === "CANCELLED" ? 409 : 202;
}

/** The frames that a run or a resume is answered with: where code failed is not told to callers. */
export function runStream(follower: Follower, more: ReplyHeaders = {}): StreamReply {
  return streamOf(follower, withoutPlaces(follower.frames()), more);
}

/** The frames of an execution for those who may read it. */
export function readStream(follower: Follower): StreamReply {
  return streamOf(follower, follower.frames());
}

function streamOf(
  { execution_id }: Follower,
  frames: AsyncIterable<FollowPart>,
  more: ReplyHeaders = {},
): StreamReply {
  return stream(frames, { headers: { [EXECUTION_ID]: execution_id, ...more } });
}

async function* withoutPlaces(parts: AsyncIterable<FollowPart>): AsyncIterable<FollowPart> {
  for await (const part of parts) {
    yield typeof part === "string" ? part : { ...part, data: dataForCaller(part) };
  }
}

function dataForCaller({ event, data }: SseFrame): unknown {
  if (event === "task.progress") return data;
  if (event === "event") return eventForCaller(data as RecordedEvent);
  return recordForCaller(data as ExecutionRecord);
}

/** Milliseconds a sync call waits: what the caller asks for, capped by the server (EXE-81). */
export function waitMs(
  timeoutSeconds: number | undefined,
  syncTimeoutSeconds: number,
): number | undefined {
  const limit = syncTimeoutSeconds === 0 ? undefined : syncTimeoutSeconds;
  const seconds = Math.min(timeoutSeconds ?? Infinity, limit ?? Infinity);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
