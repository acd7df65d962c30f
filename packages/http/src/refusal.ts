import { EngineError, UnencodableValue, unencodable } from "@engine/contract";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { unsupportedMediaType } from "./media-type.ts";
import type { ShownRefusal } from "./redaction.ts";
import type { ReplyHeaders } from "./reply.ts";

/** Where a request's defects are written whole; nothing of them goes over the wire. */
export interface HttpLog {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/**
 * The error that a caller is told for anything thrown: a defect is logged whole and told as
 * `internal` (NET-3).
 */
export function refusal(thrown: unknown, request: FastifyRequest, log: HttpLog): EngineError {
  if (thrown instanceof EngineError && thrown.code !== "internal") return thrown;
  if (thrown instanceof UnencodableValue) return unencodable(thrown);
  const known = frameworkRefusal(thrown, request);
  if (known) return known;
  const { id: request_id, method } = request;
  log.error({ err: thrown, request_id, method, path: pathOf(request) }, "a request failed");
  return new EngineError("internal", `the engine failed; its log tells why under ${request_id}`, {
    details: { request_id },
    cause: thrown,
  });
}

/** Refusals that Fastify makes before a handler is called, in our codes. */
function frameworkRefusal(thrown: unknown, request: FastifyRequest): EngineError | undefined {
  const { code, statusCode } = thrown as Partial<FastifyError>;
  if (typeof code !== "string" || !code.startsWith("FST_ERR_")) {
    // The connection broke while the body came in: Fastify marks the socket's error as a 400.
    return statusCode === 400
      ? new EngineError("bad_request", "the body is incomplete")
      : undefined;
  }
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return tooLarge(request.routeOptions.bodyLimit);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return unsupportedMediaType(request.headers["content-type"] ?? "");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new EngineError("bad_request", "the body is not as long as Content-Length says");
    case "FST_ERR_BAD_URL":
      return new EngineError("bad_request", "the path holds a broken percent-encoding");
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new EngineError("uri_too_long", "the path is longer than 2 KiB");
    default:
      return undefined;
  }
}

export function tooLarge(limit_bytes: number): EngineError {
  return new EngineError("payload_too_large", `the body is larger than ${limit_bytes} bytes`, {
    details: { limit_bytes },
  });
}

/**
 * What a refusal says in its headers as well, for clients that never look into bodies.
 *
 * @param metadata Where a client finds from whom it gets a token (RFC 9728).
 */
export function refusalHeaders(error: EngineError, metadata?: string): ReplyHeaders {
  const { code, status, details = {} } = error;
  const { allow, retry_after_seconds: seconds } = details;
  if (code === "method_not_allowed" && Array.isArray(allow)) return { allow: allow.join(", ") };
  if (code === "unauthenticated") return { "www-authenticate": challenge(error, metadata) };
  const isLater = status === 429 || status === 503;
  return isLater && typeof seconds === "number" ? { "retry-after": String(seconds) } : {};
}

/**
 * RFC 6750: a request without a token is told of no error (AUTH-9). Where details themselves name the
 * metadata of the resource, a token that failed a check is told which, in the words of the message
 * (MCA-2).
 */
function challenge({ message, details = {} }: EngineError, metadata: string | undefined): string {
  const { reason, check, resource_metadata } = details;
  if (typeof resource_metadata === "string") {
    const failed = `, error="invalid_token", error_description="${message}"`;
    return `Bearer resource_metadata="${resource_metadata}"${check === undefined ? "" : failed}`;
  }
  const error = reason === "missing" ? "" : ', error="invalid_token"';
  const at = metadata === undefined ? "" : `, resource_metadata="${metadata}"`;
  return `Bearer realm="engine"${error}${at}`;
}

export function sendRefusal(reply: FastifyReply, { status, text }: ShownRefusal): FastifyReply {
  return reply.code(status).header("content-type", "application/json; charset=utf-8").send(text);
}

/** The path as requested, without its query, which may hold values. */
export function pathOf(request: FastifyRequest): string {
  const { url } = request;
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}
