import type { FastifyReply, FastifyRequest } from "fastify";
import type { PathMethods } from "./path-pattern.ts";
import { pathOf } from "./refusal.ts";

/** What a page may read of an answer besides its body. */
const EXPOSED = "X-Request-Id, Retry-After, Location, ETag, Allow";
const PREFLIGHT_SECONDS = "600";

/** Lets pages of a listed origin read an answer; never with cookies (NET-4). */
export function crossOrigin(origin: string): Readonly<Record<string, string>> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
    vary: "Origin",
  };
}

/** Whether a browser asks if a page may send what it is about to (Fetch standard, 4.8). */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/** Answers for a page of a listed origin. */
export function preflight(
  request: FastifyRequest,
  reply: FastifyReply,
  methods: PathMethods,
): FastifyReply {
  const asked = request.headers["access-control-request-headers"];
  reply
    .code(204)
    .header("access-control-allow-methods", methods.offeredTo(pathOf(request)).join(", "))
    .header("access-control-max-age", PREFLIGHT_SECONDS);
  if (asked !== undefined) reply.header("access-control-allow-headers", asked);
  return reply.send();
}
