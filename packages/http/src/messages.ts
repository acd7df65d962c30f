import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { scanThread } from "./json/scan-thread.ts";
import { tooLarge } from "./refusal.ts";
import { repeat } from "./repeat.ts";
import type { SpokenRequest } from "./reply.ts";
import { RequestBodies } from "./request-bodies.ts";

/**
 * Reads messages for a process that speaks a protocol without a table of routes: counted, bounded in depth
 * and values, and refused when they stop, as the bodies of routes are (NET-1).
 */
export class Messages {
  readonly #bodies = new RequestBodies({ thread: scanThread(), stallTimer: repeat });

  /**
   * The request with its whole message.
   *
   * @param limit Bytes that it may have.
   * @throws EngineError `payload_too_large`, `unavailable`, `bad_request`, `invalid_input`.
   */
  async read(
    request: IncomingMessage,
    response: ServerResponse,
    limit: number,
  ): Promise<SpokenRequest> {
    const length = Number(request.headers["content-length"] ?? 0);
    if (length > limit) throw tooLarge(limit);
    const reserved = this.#bodies.reserve(length);
    response.once("close", reserved.release);
    if (request.headers.expect !== undefined) response.writeContinue();
    return spokenRequest(request, await this.#bodies.message(request, { limit }, reserved));
  }

  close(): Promise<void> {
    return this.#bodies.close();
  }
}

/** A request as what speaks a protocol reads it. */
export function spokenRequest(
  { method, url, headers }: IncomingMessage,
  message: Buffer | undefined,
): SpokenRequest {
  return Object.assign(Readable.from(message?.length ? [message] : []), { method, url, headers });
}
