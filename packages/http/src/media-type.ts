import { EngineError } from "@engine/contract";
import type { FastifyRequest } from "fastify";
import { isOfBrowser } from "./neighbourhood.ts";

/** Lines of JSON, for routes that read a request while they answer it. */
export const LINES = "application/x-ndjson";

const JSON_TYPE = /^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i;

/** The type that curl gives to `-d`. Forms of web pages have it too, so browsers may not use it. */
const CURL_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

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
  if (type !== undefined && JSON_TYPE.test(type)) return;
  const saysNothing = type === undefined || CURL_TYPE.test(type);
  if (!saysNothing || isOfBrowser(headers)) throw unsupportedMediaType(type);
}

export function unsupportedMediaType(type: string | undefined): EngineError {
  const what = type === undefined ? "without a type" : `of type ${JSON.stringify(type)}`;
  return new EngineError(
    "unsupported_media_type",
    `a body ${what} is not read here; send JSON with Content-Type: application/json`,
  );
}
