import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Fetch } from "@engine/client";
import type { Upstream } from "./upstream.ts";

/** The origin of addresses that mean whichever server is used. */
export const ANY_SERVER = "http://engine";

/**
 * `fetch` for the typed client over the connections of the gateway.
 *
 * @param headMs For the head of an answer; 0 = for ever.
 * @param authorization Sent with each request, as it came with the caller's.
 */
export function upstreamFetch(
  upstream: Upstream,
  {
    headMs,
    authorization,
  }: { readonly headMs: number; readonly authorization: string | undefined },
): Fetch {
  return async (url, { method, headers, body, signal }) => {
    const { pathname, search } = new URL(url);
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const credential = authorization === undefined ? {} : { authorization };
    const answer = await upstream.send({
      method,
      path: pathname + search,
      headers: { ...headers, ...length, ...credential },
      body: body === undefined ? undefined : Readable.from([Buffer.from(body)]),
      headMs,
      signal: signal ?? new AbortController().signal,
    });
    return {
      status: answer.statusCode ?? 0,
      headers: { get: (name) => answer.headersDistinct[name.toLowerCase()]?.join(", ") ?? null },
      get body() {
        return Readable.toWeb(answer) as ReadableStream<Uint8Array>;
      },
      text: () => text(answer),
    };
  };
}
