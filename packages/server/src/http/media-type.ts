import { EngineError } from "@engine/contract";
import type { FastifyRequest } from "fastify";

/** Lines of JSON, for routes that read a request while they answer it. */
export const LINES = "application/x-ndjson";

/** JSON, or what says nothing better: no media type, or curl's default for `-d` (NET-1). */
const READ_AS_JSON = /^application\/(?:json|[\w.-]+\+json|x-www-form-urlencoded)\s*(?:;|$)/i;

/** Refuses a body that would not be read as JSON, before any of it is read. */
export function refuseOtherMedia(
  { headers }: Pick<FastifyRequest, "headers">,
  lines = false,
): void {
  if (headers["transfer-encoding"] === undefined && !Number(headers["content-length"])) return;
  const { "content-type": type, "content-encoding": encoding } = headers;
  if (encoding !== undefined && encoding !== "identity") {
    const message = `a body in Content-Encoding ${JSON.stringify(encoding)} is not read here; send it as it is`;
    throw new EngineError("unsupported_media_type", message);
  }
  if (lines && type?.startsWith(LINES)) return;
  if (type !== undefined && !READ_AS_JSON.test(type)) throw unsupportedMediaType(type);
}

export function unsupportedMediaType(type: string): EngineError {
  return new EngineError(
    "unsupported_media_type",
    `a body of type ${JSON.stringify(type)} is not read here; send JSON with Content-Type: application/json`,
  );
}
