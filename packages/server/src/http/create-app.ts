import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { EngineError } from "@engine/contract";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { type Authorize, allowEveryone, type Caller } from "./authorize.ts";
import { type Binding, bind, noRoute } from "./bind.ts";
import { crossOrigin, isPreflight, preflight } from "./cross-origin.ts";
import type { Handlers, RouteTable, TableHandlers } from "./handlers.ts";
import type { HttpLog } from "./http-log.ts";
import { parseJsonBody } from "./json-body.ts";
import { LINES } from "./media-type.ts";
import { Neighbourhood, type Neighbours } from "./neighbourhood.ts";
import { OpenStreams } from "./open-streams.ts";
import { PathMethods } from "./path-pattern.ts";
import { pathOf, refusal, sendRefusal } from "./refusal.ts";
import { type Repeat, repeat } from "./repeat.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set once the request is authorized. */
    caller: Caller;
  }
}

export interface AppOptions<Table extends RouteTable> {
  readonly routes: Table;
  readonly handlers: TableHandlers<Table>;
  readonly log: HttpLog;
  /** Makes request ids. */
  readonly ids: () => string;
  readonly authorize?: Authorize;
  /** Names and pages besides its own; none when absent. */
  readonly neighbours?: Neighbours;
  /** Counts the streams that are open; closing the app ends them. */
  readonly streams?: OpenStreams;
  readonly pingTimer?: Repeat;
}

const MAX_PATH_BYTES = 2048;
const MAX_HEADER_BYTES = 16 * 1024;

/** On every answer (NET-3). */
const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};

/** The HTTP side of the server: every route of a table, bound to its handler. */
export function createApp<Table extends RouteTable>(options: AppOptions<Table>): FastifyInstance {
  const { log, ids, authorize = allowEveryone, pingTimer = repeat } = options;
  const streams = options.streams ?? new OpenStreams();
  const methods = new PathMethods();
  const neighbourhood = new Neighbourhood(options.neighbours ?? { hosts: [], origins: [] });
  const refuse = (thrown: unknown, request: FastifyRequest) => refusal(thrown, request, log);
  let isClosing = false;

  const app = Fastify({
    logger: false,
    genReqId: ids,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PATH_BYTES },
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...SECURITY_HEADERS, "x-request-id": request.id });
      sendRefusal(reply, refuse(error, request));
    },
  });
  // Node itself would answer with an empty 417, before any route is looked for.
  app.server.on("checkExpectation", (_, response: ServerResponse) => {
    const refused = new EngineError("bad_request", "of Expect only 100-continue is known here");
    response.writeHead(refused.status, {
      ...refusalHeaders(),
      "x-request-id": ids(),
      connection: "close",
    });
    response.end(JSON.stringify(refused.toBody()));
  });
  app.decorateRequest("caller", null as unknown as Caller);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, async (_: FastifyRequest, body: Buffer) =>
    parseJsonBody(body),
  );

  // Left unread: the route itself reads its lines as they come.
  app.addContentTypeParser(LINES, (_request, _body, done) => done(null, undefined));

  app.addHook("onRequest", async (request, reply) => {
    reply.headers(SECURITY_HEADERS).header("x-request-id", request.id);
    // Nothing is upgraded here. Node answers nothing on such a connection once it has brought what is
    // no HTTP, nor does it close it.
    if (request.headers.upgrade !== undefined) reply.header("connection", "close");
    neighbourhood.admit(request.headers);
    const origin = neighbourhood.listed(request.headers);
    if (origin !== undefined) {
      reply.headers(crossOrigin(origin));
      if (isPreflight(request)) return preflight(request, reply, methods);
    }
    if (isClosing) throw new EngineError("unavailable", "the server is stopping; try again");
    if (pathOf(request).length > MAX_PATH_BYTES) {
      throw new EngineError("uri_too_long", "the path is longer than 2 KiB");
    }
  });
  app.addHook("preClose", async () => {
    isClosing = true;
    streams.endAll();
  });
  app.setErrorHandler((thrown, request, reply) => {
    const error = refuse(thrown, request);
    const allow = error.code === "method_not_allowed" ? error.details?.["allow"] : undefined;
    if (Array.isArray(allow)) reply.header("allow", allow.join(", "));
    sendRefusal(reply, error);
  });
  app.setNotFoundHandler((request) => {
    throw noRoute(request.method, pathOf(request), methods);
  });

  const binding: Binding = { authorize, methods, streams, pingTimer, refuse };
  for (const [name, group] of Object.entries(options.routes)) {
    bind(app, group, options.handlers[name] as Handlers<typeof group>, binding);
  }
  return app;
}

/** Of a refusal that no route and no hook had a part in. */
function refusalHeaders(): Record<string, string> {
  return { ...SECURITY_HEADERS, "content-type": "application/json; charset=utf-8" };
}

/** What could not even be read as HTTP: no route, no reply object, only the socket. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const refused =
    error.code === "HPE_HEADER_OVERFLOW"
      ? new EngineError("headers_too_large", "the request headers exceed 16 KiB")
      : new EngineError("bad_request", "the request is not HTTP that can be read");
  const body = JSON.stringify(refused.toBody());
  const headers = Object.entries({
    ...refusalHeaders(),
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${refused.status} Refused\r\n${lines}\r\n${body}`);
}
