import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";

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

/** What goes to the server of a request's headers, and what it is told of the client. */
export function requestHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  const { headers, headersDistinct, socket } = request;
  const before = headersDistinct["x-forwarded-for"] ?? [];
  const address = socket.remoteAddress === undefined ? [] : [socket.remoteAddress];
  const isChunked = headers["transfer-encoding"] !== undefined;
  return {
    ...chosen(headersDistinct, OF_REQUESTS),
    "x-forwarded-for": [...before, ...address].join(", "),
    "x-forwarded-proto": "http",
    ...(headers.host !== undefined && { "x-forwarded-host": headers.host }),
    ...(isChunked && { "transfer-encoding": "chunked" }),
  };
}

/** What goes to the client of an answer's headers. */
export function answerHeaders(answer: IncomingMessage): OutgoingHttpHeaders {
  return chosen(answer.headersDistinct, OF_ANSWERS);
}

function chosen(
  headers: NodeJS.Dict<string[]>,
  names: ReadonlySet<string>,
): Record<string, string | string[]> {
  const taken: Record<string, string | string[]> = {};
  for (const [name, values = []] of Object.entries(headers)) {
    if (!names.has(name) && !name.startsWith(OF_THE_ENGINE)) continue;
    const [only, ...others] = values;
    if (only !== undefined) taken[name] = others.length === 0 ? only : values;
  }
  return taken;
}
