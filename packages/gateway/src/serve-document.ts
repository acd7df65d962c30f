import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { EngineError } from "@engine/contract";
import { answerJson, type Exchange } from "./exchange.ts";
import { answerHeaders, requestHeaders } from "./forwarded-headers.ts";
import { LEFT, leaving } from "./leaving.ts";
import { isRecord, rootDocument } from "./root-document.ts";
import type { Upstream } from "./upstream.ts";

export interface DocumentOptions {
  readonly upstream: Upstream;
  readonly service: string;
  /** Where clients find the gateway. */
  readonly base: string;
  /** For the head of the server's answer. */
  readonly headMs: number;
}

/**
 * Answers with the OpenAPI document that the server has for this caller, rewritten for the gateway
 * (GW-6). Anything else that the server answers goes back as it is.
 *
 * @throws EngineError while nothing has been answered.
 */
export async function serveDocument(
  { request, response }: Exchange,
  { upstream, service, base, headMs }: DocumentOptions,
): Promise<void> {
  const signal = leaving(response);
  // Whatever body came with the request is none of the document's.
  const { "content-length": _, "transfer-encoding": __, ...headers } = requestHeaders(request);
  try {
    const path = `/services/${service}/openapi.json`;
    const answer = await upstream.send({ method: "GET", path, headers, headMs, signal });
    const body = await wholeBody(answer, signal);
    const document = answer.statusCode === 200 ? parsed(body) : undefined;
    if (isRecord(document)) {
      answerJson(response, 200, rootDocument(document, { service, base }));
      return;
    }
    response.writeHead(answer.statusCode ?? 502, answerHeaders(answer)).end(body);
  } catch (error) {
    if (error !== LEFT) throw error;
  }
}

async function wholeBody(answer: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  try {
    return await buffer(answer);
  } catch (cause) {
    signal.throwIfAborted();
    const message = "the engine broke off the document; try again";
    throw new EngineError("upstream_unreachable", message, { cause });
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
