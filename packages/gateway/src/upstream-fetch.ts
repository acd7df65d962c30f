import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Fetch } from "@engine/client";
import { fetchAnswer } from "@engine/http";
import type { Upstream } from "./upstream.ts";

/** The origin of addresses that mean whichever server is used. */
export const ANY_SERVER = "http://engine";

/** A stream has a comment every 15 seconds: one that is silent for so long is broken (GW-14). */
export const STREAM_MS = 60_000;

export interface UpstreamFetchOptions {
  /** For the head of an answer; 0 = for ever. */
  readonly headMs: number;
  /** Sent with each request, as it came with the caller's. */
  readonly authorization: string | undefined;
  /** What the server is told of the caller besides. */
  readonly headers?: OutgoingHttpHeaders;
}

/** `fetch` for the typed client over the connections of the gateway. */
export function upstreamFetch(
  upstream: Upstream,
  { headMs, authorization, headers: told = {} }: UpstreamFetchOptions,
): Fetch {
  return async (url, { method, headers, body, signal }) => {
    const { pathname, search } = new URL(url);
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const credential = authorization === undefined ? {} : { authorization };
    const answer = await upstream.send({
      method,
      path: pathname + search,
      headers: { ...told, ...headers, ...length, ...credential },
      body: body === undefined ? undefined : Readable.from([Buffer.from(body)]),
      headMs,
      signal: signal ?? new AbortController().signal,
    });
    if (answer.headers["content-type"]?.startsWith("text/event-stream")) breakIfSilent(answer);
    return fetchAnswer(answer);
  };
}

function breakIfSilent(answer: IncomingMessage): void {
  const { socket } = answer;
  const cut = () => void answer.destroy(new Error("the stream was silent for too long"));
  socket.setTimeout(STREAM_MS);
  socket.once("timeout", cut);
  answer.once("close", () => socket.off("timeout", cut));
}
