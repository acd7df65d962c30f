/** One HTTP call of a worker, on node:http itself: a step of an execution waits for it. */
import * as http from "node:http";
import * as https from "node:https";
import { EngineError, ErrorBody, SESSION_HEADER } from "@engine/contract";
import { LineStream } from "./line-stream.ts";

export interface HttpCall {
  readonly method: "GET" | "POST" | "PUT";
  /** Below the base address, with its query. */
  readonly path: string;
  readonly session?: string;
  /** JSON text. */
  readonly body?: string;
}

export interface HttpRequests {
  readonly send: Send;
  /** Opens a request that goes on sending lines while it is answered. */
  readonly openLines: (path: string, session: string) => LineStream;
}

/** Sends a call and gives the answer's head; only a 2xx arrives, anything else rejects. */
export type Send = (call: HttpCall) => Promise<http.IncomingMessage>;

export function createRequests(
  baseUrl: string,
  { timeoutMs, streamBeginMs: beginMs }: { timeoutMs: number; streamBeginMs: number },
): HttpRequests {
  const base = new URL(baseUrl);
  const { request, Agent } = base.protocol === "https:" ? https : http;
  const target = {
    agent: new Agent({ keepAlive: true, scheduling: "lifo" }),
    host: base.hostname.replace(/^\[|\]$/g, ""),
    port: base.port || (base.protocol === "https:" ? 443 : 80),
    timeout: timeoutMs,
  };
  const prefix = base.pathname.replace(/\/$/, "");

  const openLines = (path: string, session: string) => {
    const headers = { "content-type": "application/x-ndjson", [SESSION_HEADER]: session };
    // Not from the pool: the connection is never given back.
    const options = { ...target, agent: false, timeout: 0, method: "POST", headers } as const;
    const refused = async (response: http.IncomingMessage) =>
      answerError(`POST ${path}`, response.statusCode ?? 0, await textOf(response));
    return new LineStream(request({ ...options, path: prefix + path }), {
      timeoutMs,
      beginMs,
      refused,
    });
  };

  const send: Send = async ({ method, path, session, body }) => {
    const headers: http.OutgoingHttpHeaders = {};
    if (body !== undefined) headers["content-type"] = "application/json";
    if (session !== undefined) headers[SESSION_HEADER] = session;
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const sent = request({ ...target, method, path: prefix + path, headers }, resolve);
      sent.on("error", reject);
      sent.on("timeout", () => {
        sent.destroy(new Error(`no answer to ${method} ${path} within ${timeoutMs} ms`));
      });
      // Text and head leave in one write; a Buffer would be written beside the head.
      sent.end(body);
    });
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    throw answerError(`${method} ${path}`, status, await textOf(response));
  };
  return { send, openLines };
}

export function textOf(response: http.IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      text += chunk;
    });
    response.on("end", () => resolve(text));
    response.on("error", reject);
    response.on("close", () => reject(new Error("the answer was cut off")));
  });
}

/** What the server refused, or trouble on the way when the answer is not the server's own. */
function answerError(what: string, status: number, text: string): Error {
  try {
    const body = ErrorBody.safeParse(JSON.parse(text));
    if (body.success) return EngineError.from(body.data);
  } catch {
    // Not JSON: a proxy or some other server answered.
  }
  return new Error(`unexpected answer ${status} to ${what}; is this the address of an engine?`);
}
