import type { IncomingMessage, ServerResponse } from "node:http";
import { answerHeaders, requestHeaders } from "./forwarded-headers.ts";
import { LEFT, leaving } from "./leaving.ts";
import { passOn } from "./pass-on.ts";
import { Silence } from "./silence.ts";
import type { GatewayTiming } from "./timing.ts";
import type { Upstream } from "./upstream.ts";
import { STREAM_MS } from "./upstream-fetch.ts";

/** What ends each stream that is open now, without a closing frame. */
export type OpenStreams = Set<() => void>;

export interface ForwardOptions {
  readonly upstream: Upstream;
  /** On the server, with the query. */
  readonly path: string;
  /** For the head of the answer; 0 = for ever. */
  readonly headMs: number;
  readonly timing: GatewayTiming;
  readonly streams: OpenStreams;
  /** Whether no stream is to begin any more. */
  readonly isEnding: () => boolean;
  /** Told of the answer's status before the client is. */
  readonly onStatus: (status: number) => void;
}

/**
 * Passes a request on and its answer back, bytes as they come in both directions (GW-10 to GW-12).
 *
 * @returns once all of the answer has gone to the client, or cannot any more.
 * @throws EngineError while nothing has been answered.
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  options: ForwardOptions,
): Promise<void> {
  if (response.closed) return;
  const signal = leaving(response);
  const closed = new Promise<void>((resolve) => void response.once("close", resolve));
  try {
    const answer = await options.upstream.send({
      method: request.method ?? "GET",
      path: options.path,
      headers: requestHeaders(request),
      body: hasBody(request) ? request : undefined,
      headMs: options.headMs,
      signal,
      onReached: () => {
        if (request.headers.expect !== undefined) response.writeContinue();
      },
    });
    giveBack(answer, response, options);
    await closed;
  } catch (error) {
    if (error !== LEFT) throw error;
  }
}

function giveBack(
  answer: IncomingMessage,
  response: ServerResponse,
  { timing, streams, isEnding, onStatus }: ForwardOptions,
): void {
  const { statusCode: status = 502 } = answer;
  onStatus(status);
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") ?? false;
  if (isStream) response.setHeader("cache-control", "no-cache");
  if (response.destroyed) {
    answer.destroy();
    return;
  }
  response.writeHead(status, answerHeaders(answer));
  // The client of a stream has its head before there is a frame.
  response.flushHeaders();
  const cut = () => {
    if (!response.writableEnded) response.destroy();
  };
  const source = new Silence({ ms: isStream ? STREAM_MS : 0, timing, onSilent: cut });
  const end = () => {
    response.end();
    answer.destroy();
  };
  if (isStream) streams.add(end);
  // What breaks on one side breaks on the other: nothing is made up that would look like an end.
  answer.on("error", cut).once("close", cut);
  response.once("close", () => {
    streams.delete(end);
    source.end();
    answer.destroy();
  });
  if (isStream && isEnding()) end();
  else passOn(answer, response, { source, onEnd: () => void response.end() });
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}
