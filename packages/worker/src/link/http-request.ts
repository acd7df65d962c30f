/** One HTTP call of a worker, on node:http itself: a step of an execution waits for it. */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { type Server, Servers } from "@engine/client/node";
import { EngineError, ErrorBody, SESSION_HEADER } from "@engine/contract";
import { LineStream } from "./line-stream.ts";

/** Just below the longest string there can be: one character more would end the process. */
const MOST_CHARACTERS = 500_000_000;
/** Answers of a server that cannot work, or of a proxy that does not reach one. */
const AWAY = [502, 503, 504];

export interface HttpCall {
  readonly method: "GET" | "POST" | "PUT";
  /** Below the base address, with its query. */
  readonly path: string;
  readonly session?: string;
  /** In place of the worker's credential; undefined sends none. */
  readonly token?: string | undefined;
  /** JSON text. */
  readonly body?: string;
  /** In place of the time that any call may take. */
  readonly timeoutMs?: number | undefined;
}

export interface HttpRequests {
  /** Sends a call and gives the answer's head; only a 2xx arrives, anything else rejects. */
  send(call: HttpCall): Promise<IncomingMessage>;
  /** Opens a request that goes on sending lines while it is answered. */
  openLines(to: { readonly path: string; readonly session: string }): LineStream;
  /** What is sent from now on goes by a new connection, to the next address. */
  leaveServer(): void;
}

interface RequestOptions {
  readonly timeoutMs: number;
  readonly streamBeginMs: number;
  /** The worker's credential, as it is at each call. */
  readonly token?: () => string | undefined;
  readonly warn?: (message: string) => void;
}

export function createRequests(
  baseUrls: readonly string[],
  { timeoutMs, streamBeginMs: beginMs, ...own }: RequestOptions,
): HttpRequests {
  const servers = new Servers(baseUrls);
  let isWarned = false;

  const authorization = (server: Server, token: string | undefined): OutgoingHttpHeaders => {
    if (token === undefined) return {};
    if (!isWarned && server.isExposed) {
      isWarned = true;
      own.warn?.(
        `credentials go to ${server.host} over plain http, where others can read them: use https`,
      );
    }
    return { authorization: `Bearer ${token}` };
  };

  const openLines: HttpRequests["openLines"] = ({ path, session }) => {
    const { request, prefix, host, port } = servers.current;
    const headers = {
      ...authorization(servers.current, own.token?.()),
      "content-type": "application/x-ndjson",
      [SESSION_HEADER]: session,
    };
    // Not from the pool: the connection is never given back.
    const options = { host, port, agent: false, timeout: 0, method: "POST", headers } as const;
    const refused = async (response: IncomingMessage) =>
      answerError(`POST ${path}`, response.statusCode ?? 0, await textOf(response));
    return new LineStream(request({ ...options, path: prefix + path }), {
      timeoutMs,
      beginMs,
      refused,
    });
  };

  const send: HttpRequests["send"] = async ({ method, path, session, body, ...of }) => {
    const server = servers.current;
    const headers = authorization(server, "token" in of ? of.token : own.token?.());
    if (body !== undefined) headers["content-type"] = "application/json";
    if (session !== undefined) headers[SESSION_HEADER] = session;
    const { request, prefix, host, port, agent } = server;
    const timeout = of.timeoutMs ?? timeoutMs;
    const target = { host, port, agent, timeout, method, path: prefix + path, headers };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(target, resolve);
      sent.on("error", (error) => {
        servers.failed(server);
        reject(error);
      });
      sent.on("timeout", () => {
        sent.destroy(new Error(`no answer to ${method} ${path} within ${timeout} ms`));
      });
      // Text and head leave in one write; a Buffer would be written beside the head.
      sent.end(body);
    });
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    if (AWAY.includes(status)) servers.failed(server);
    throw answerError(`${method} ${path}`, status, await textOf(response));
  };
  return { send, openLines, leaveServer: () => servers.next() };
}

export function textOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      if (text.length + chunk.length > MOST_CHARACTERS) {
        response.destroy(new Error(`the answer is longer than ${MOST_CHARACTERS} characters`));
      } else text += chunk;
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
