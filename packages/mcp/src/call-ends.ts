import { SdkError, SdkErrorCode, type ServerContext } from "@modelcontextprotocol/server";

/** How a call may end before its answer (MCP-13). */
export interface CallEnds {
  /** The connection or the stream was closed. */
  readonly left: AbortSignal;
  /** The client sent `notifications/cancelled`. */
  readonly cancelled: AbortSignal;
}

/** Tells the two apart, for which the SDK has one signal. */
export function callEnds({ mcpReq, http }: ServerContext): CallEnds {
  const { signal } = mcpReq;
  const closed = new AbortController();
  const cancelled = new AbortController();
  const onAbort = () => {
    const reason: unknown = signal.reason;
    const isClosed = reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
    (isClosed ? closed : cancelled).abort();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  // In a session the protocol outlives the request that a client left.
  const request = http?.req?.signal;
  const left = request ? AbortSignal.any([closed.signal, request]) : closed.signal;
  return { left, cancelled: cancelled.signal };
}
