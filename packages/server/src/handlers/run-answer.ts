import { type ExecutionRow, eventForCaller, recordForCaller, type State } from "@engine/contract";
import { type Call, hasLeft, type ReplyHeaders, type StreamReply } from "@engine/http";
import type { Follower } from "../executions/follower.ts";
import { toRecord, toRecordedEvent } from "../executions/record.ts";
import type { Asker, Projection, Replay } from "../executions/run-modes.ts";

type RunStatus = 200 | 202 | 409 | 500;

export type RunAnswer<Body> = {
  [Status in RunStatus]: {
    readonly status: Status;
    readonly body: Body;
    readonly headers: ReplyHeaders;
  };
}[RunStatus];

export const EXECUTION_ID = "x-engine-execution-id";

/** The answer to a run or resume, by the state of the execution (EXE-81). */
export function runAnswer<Body>(
  row: ExecutionRow,
  body: Body,
  more: ReplyHeaders = {},
): RunAnswer<Body> {
  const status = statusOf(row.state);
  const headers = status === 202 ? addressOf(row) : { [EXECUTION_ID]: row.execution_id };
  return { status, body, headers: { ...headers, ...more } };
}

/** Headers that say which execution it is, and where to read it. */
export function addressOf({ execution_id, namespace, workflow }: ExecutionRow): ReplyHeaders {
  const location = `/workflows/${namespace}/${workflow}/status/${execution_id}`;
  return { [EXECUTION_ID]: execution_id, location };
}

function statusOf(state: State): RunStatus {
  if (state === "COMPLETED") return 200;
  if (state === "FAILED") return 500;
  return state === "CANCELLED" ? 409 : 202;
}

/** The frames of a follower, after a header that names the execution. */
export function streamAnswer(follower: Follower, more: ReplyHeaders = {}): StreamReply {
  const headers = { [EXECUTION_ID]: follower.execution_id, ...more };
  return { frames: follower.frames(), headers };
}

/**
 * How routes that run and resume tell of executions. Callers are not told in which line code failed.
 *
 * @param toldOf Makes the body of an answer.
 */
export function forCallers<Body>(
  toldOf: (row: ExecutionRow) => Promise<Body>,
): Projection<RunAnswer<Body>, StreamReply> {
  return {
    frames: {
      record: (row, who) => recordForCaller(toRecord(row, who)),
      event: (entry) => eventForCaller(toRecordedEvent(entry)),
    },
    accepted: async (row, replay) => {
      const headers = { ...addressOf(row), ...replayed(replay) };
      return { status: 202, body: await toldOf(row), headers };
    },
    settled: async (row, replay) => runAnswer(row, await toldOf(row), replayed(replay)),
    followed: (follower, replay) => streamAnswer(follower, replayed(replay)),
  };
}

export function askerOf(call: Call): Asker {
  const { principal } = call.caller;
  return { principal, signal: () => call.signal, hasLeft: () => hasLeft(call) };
}

/** Says that the answer is about an execution which was there before (EXE-84). */
export function replayed({ existing }: Replay): ReplyHeaders {
  return existing ? { "idempotency-replayed": "true" } : {};
}
