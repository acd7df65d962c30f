import type { IncomingMessage, ServerResponse } from "node:http";
import type { EngineError } from "@engine/contract";
import { refusalHeaders } from "@engine/http";

const JSON_TYPE = "application/json; charset=utf-8";

/** A request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers with JSON of the gateway's own. */
export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": JSON_TYPE,
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

/** Answers with an error; one that comes when an answer has begun can only break it off. */
export function answerRefusal(response: ServerResponse, error: EngineError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(refusalHeaders(error))) {
    if (value !== undefined) response.setHeader(name, value);
  }
  answerJson(response, error.status, error.toBody());
}
