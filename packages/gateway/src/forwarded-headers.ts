import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { ROUTING_INPUT_HEADER } from "@engine/contract";

/** Of a request (GW-11); those of the engine besides. */
const OF_REQUESTS: ReadonlySet<string> = new Set([
  "authorization",
  "content-type",
  "accept",
  "idempotency-key",
  "last-event-id",
  "traceparent",
  "tracestate",
  "x-request-id",
  // Where the body ends.
  "content-length",
]);

/** Of an answer (GW-10); those of the engine besides. */
const OF_ANSWERS: ReadonlySet<string> = new Set([
  "content-type",
  "x-request-id",
  "location",
  "retry-after",
  "www-authenticate",
  "idempotency-replayed",
  // What the bytes of the body are, and where they end.
  "content-length",
  "content-encoding",
  // Keeps whatever stands before the gateway from gathering frames.
  "x-accel-buffering",
]);

const OF_THE_ENGINE = "x-engine-";

/** Of a request that has others made for its caller: how they are traced, and where runs may go (RIN-1). */
const OF_CALLERS: ReadonlySet<string> = new Set([
  "traceparent",
  "tracestate",
  ROUTING_INPUT_HEADER,
]);

/** What goes to the server of a request's headers, and what it is told of the client. */
export function requestHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  const { headers, headersDistinct } = request;
  const isChunked = headers["transfer-encoding"] !== undefined;
  return {
    ...chosen(headersDistinct, OF_REQUESTS, OF_THE_ENGINE),
    ...forwarded(request),
    ...(isChunked && { "transfer-encoding": "chunked" }),
  };
}

/** What the server is told of a caller with requests that are made for it, besides its credential. */
export function callerHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  return { ...chosen(request.headersDistinct, OF_CALLERS), ...forwarded(request) };
}

function forwarded({ headers, headersDistinct, socket }: IncomingMessage): OutgoingHttpHeaders {
  const before = headersDistinct["x-forwarded-for"] ?? [];
  const address = socket.remoteAddress === undefined ? [] : [socket.remoteAddress];
  return {
    "x-forwarded-for": [...before, ...address].join(", "),
    "x-forwarded-proto": "http",
    ...(headers.host !== undefined && { "x-forwarded-host": headers.host }),
  };
}

/** What goes to the client of an answer's headers. */
export function answerHeaders(answer: IncomingMessage): OutgoingHttpHeaders {
  return chosen(answer.headersDistinct, OF_ANSWERS, OF_THE_ENGINE);
}

function chosen(
  headers: NodeJS.Dict<string[]>,
  names: ReadonlySet<string>,
  prefix?: string,
): Record<string, string | string[]> {
  const taken: Record<string, string | string[]> = {};
  for (const [name, values = []] of Object.entries(headers)) {
    const isOfPrefix = prefix !== undefined && name.startsWith(prefix);
    if (!names.has(name) && !isOfPrefix) continue;
    const [only, ...others] = values;
    if (only !== undefined) taken[name] = others.length === 0 ? only : values;
  }
  return taken;
}
