import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { EngineError } from "@engine/contract";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type Authorize, allowEveryone, type Caller } from "./authorize.ts";
import { type Binding, bind, noRoute, type RunList } from "./bind.ts";
import { DEFAULT_VALUE_BYTES } from "./body-limit.ts";
import { addressKey, TrustedProxies } from "./client-address.ts";
import { CONNECTION, closeInStages, refuseExpectation, refuseUnreadable } from "./connection.ts";
import { crossOrigin, isPreflight, preflight } from "./cross-origin.ts";
import type { Befores, Handlers, Looks, RouteTable, TableHandlers } from "./handlers.ts";
import { inTurn } from "./in-turn.ts";
import { type ScanThread, scanThread } from "./json/scan-thread.ts";
import { LINES } from "./media-type.ts";
import { Neighbourhood, type Neighbours } from "./neighbourhood.ts";
import { PathMethods } from "./path-pattern.ts";
import type { Permit } from "./permit.ts";
import type { RateLimits } from "./rate-limits.ts";
import { type Redaction, shownRefusal } from "./redaction.ts";
import { type HttpLog, pathOf, refusal, refusalHeaders, sendRefusal } from "./refusal.ts";
import { type Repeat, repeat } from "./repeat.ts";
import { RequestBodies, type Reservation, type Takes } from "./request-bodies.ts";
import type { Resources } from "./request-input.ts";
import { SECURITY_HEADERS, SECURITY_HEADERS_OF_TLS } from "./security-headers.ts";
import type { OpenStreams } from "./serve-stream.ts";
import { StandingWatch } from "./standing.ts";
import type { Tls } from "./tls.ts";
import type { Read, Refused } from "./told-of.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set once it is known who asks. */
    caller: Caller;
    permit: Permit;
    /** The memory that is reserved for a large body, or for one that may be large. */
    reserved: Reservation | undefined;
    /** What has come for a protocol that reads messages by itself. */
    message: Buffer | undefined;
  }

  interface FastifyContextConfig {
    /** What the route's body may be. */
    takes?: Takes;
    /** The row's name in the route table. */
    action?: string;
    /** False: what it answers, refusals too, goes as it is. */
    isRedacted?: boolean;
    /** Its body is a message for what speaks there. */
    isSpoken?: boolean;
  }
}

/** Every route of a table over one socket; `listen` opens it. */
export type App = FastifyInstance;

export interface AppOptions<Table extends RouteTable> {
  readonly routes: Table;
  readonly handlers: TableHandlers<Table>;
  readonly log: HttpLog;
  /** Makes request ids. */
  readonly ids: () => string;
  readonly authorize?: Authorize;
  /** Hosts and origins besides the server's own; none when absent. */
  readonly neighbours?: Neighbours;
  /** The streams that are open; closing the app ends them. */
  readonly streams?: OpenStreams;
  readonly pingTimer?: Repeat;
  /** Asks, for answers that go on for long, whether their callers may still have them (AUTH-58). */
  readonly standingTimer?: Repeat;
  /** Runs the check for request bodies that have stopped arriving. */
  readonly stallTimer?: Repeat;
  /** What parameters of paths name, where that is not the parameter's own name. */
  readonly resources?: Resources;
  /** Lookups that come before a large body is read; none when absent. */
  readonly looks?: Looks<Table>;
  /** What routes settle before a body is read; nothing when absent. */
  readonly befores?: Befores<Table>;
  /** Looks through large JSON; closing the app ends it. */
  readonly thread?: ScanThread;
  /** All that running a workflow takes, for refusals; the right to run alone when absent. */
  readonly runList?: RunList;
  /** Told of every request that was refused for who asks: 401 and 403. */
  readonly onRefused?: (error: EngineError, refused: Refused) => void;
  /**
   * Told of every read that is answered, when its answer begins: but for those that anybody may make,
   * those of workers for what they run, and those that are written down by themselves.
   */
  readonly onRead?: (read: Read) => void;
  /** How many bytes of large bodies may be in memory at a time. */
  readonly mostBytes?: number;
  /** Largest body that is a value, for routes whose limit follows it; 16 MiB when absent. */
  readonly valueBytes?: number;
  /** How often routes may be asked for, and credentials refused (`auth_failures`); none when absent. */
  readonly limits?: RateLimits;
  /** Serves https with it; closing the app closes it. */
  readonly tls?: Tls;
  /**
   * Where a client that is refused with 401 learns from whom it gets a token (RFC 9728, 5.1); undefined
   * for rows that have no such document.
   */
  readonly resourceMetadata?: (
    action: string,
    params: Readonly<Record<string, string>>,
  ) => string | undefined;
  /** What nobody may read in any answer; answers go as they are when absent. */
  readonly redaction?: Redaction;
  /** Networks of proxies whose `X-Forwarded-For` is believed; none when absent. */
  readonly trustedProxies?: readonly string[];
}

const MAX_PATH_BYTES = 2048;

const NOTHING: Takes = { limit: 0, isAnyJson: false, anyFields: new Set(), isNamed: true };

/** The HTTP side of the server: every route of a table, bound to its handler. */
export function createApp<Table extends RouteTable>(options: AppOptions<Table>): App {
  const { log, ids, authorize = allowEveryone, pingTimer = repeat, resources = {} } = options;
  const streams: OpenStreams = options.streams ?? new Set();
  const { thread = scanThread(), stallTimer = repeat, mostBytes } = options;
  const bodies = new RequestBodies({ thread, stallTimer, mostBytes });
  const methods = new PathMethods();
  const neighbourhood = new Neighbourhood(options.neighbours ?? { hosts: [], origins: [] });
  const { limits, trustedProxies = [] } = options;
  const proxies = new TrustedProxies(trustedProxies);
  const addressOf = ({ socket, headers }: IncomingMessage) =>
    proxies.clientAddress(socket.remoteAddress, headers["x-forwarded-for"]);
  const { onRefused, onRead, redaction } = options;
  const refuse = (thrown: unknown, request: FastifyRequest) => refusal(thrown, request, log);
  /** An answer that refuses somebody is told of. */
  const told = (error: EngineError, request: FastifyRequest) => {
    if (error.status === 401 || error.status === 403) {
      onRefused?.(error, refusedOf(request, addressOf(request.raw)));
    }
    return error;
  };
  const { tls } = options;
  const securityHeaders = tls ? SECURITY_HEADERS_OF_TLS : SECURITY_HEADERS;
  // Of a refusal that is written without Fastify, past its hooks.
  const headersOfJson = { ...securityHeaders, "content-type": "application/json; charset=utf-8" };
  let isClosing = false;

  const app = Fastify({
    logger: false,
    genReqId: ids,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PATH_BYTES },
    serverFactory: (handle) => serverOf(tls, inTurn(handle)),
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, headersOfJson),
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...securityHeaders, "x-request-id": request.id });
      void shown(reply, refuse(error, request));
    },
  });
  app.server.on("checkExpectation", (_, response: ServerResponse) => {
    refuseExpectation(response, { ...headersOfJson, "x-request-id": ids() });
  });
  app.decorateRequest("caller", null as unknown as Caller);
  app.decorateRequest("permit", null as unknown as Permit);
  app.decorateRequest("reserved", undefined);
  app.decorateRequest("message", undefined);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: IncomingMessage) => {
    const { takes = NOTHING, isSpoken } = request.routeOptions.config;
    if (!isSpoken) return bodies.read(payload, takes, request.reserved);
    request.message = await bodies.message(payload, takes, request.reserved);
    return undefined;
  });

  // Fastify leaves these bodies unread: a route of lines reads them while it answers.
  app.addContentTypeParser(LINES, (_request, _body, done) => done(null, undefined));

  // A callback, since a promise would cost every request a turn.
  app.addHook("onRequest", (request, reply, done) => {
    try {
      if (admitted(request, reply)) done();
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const end of streams) end();
  });
  app.addHook("onClose", () => {
    tls?.close();
    return bodies.close();
  });
  app.setErrorHandler((thrown, request, reply) => {
    const error = told(limited(refuse(thrown, request), request), request);
    const { isRedacted = true, action = "" } = request.routeOptions.config;
    const params = request.params as Record<string, string>;
    const metadata = options.resourceMetadata?.(action, params);
    const headers = refusalHeaders(error, metadata);
    // Fastify closes the connection where a body cannot be taken.
    if (!request.raw.complete && reply.getHeader("connection") === "close") {
      closeInStages(request.raw.socket, stallTimer);
    }
    return shown(reply.headers(headers), error, isRedacted ? redaction : undefined);
  });
  app.setNotFoundHandler((request) => {
    throw noRoute(request.method, pathOf(request), methods);
  });

  /** False when the request, a preflight, has its answer already. */
  function admitted(request: FastifyRequest, reply: FastifyReply): boolean {
    reply.headers(securityHeaders).header("x-request-id", request.id);
    // Nothing is upgraded here. Once a connection that asked for an upgrade brings something other
    // than HTTP, Node neither answers nor closes it.
    if (request.headers.upgrade !== undefined) reply.header("connection", "close");
    const origin = neighbourhood.admit(request.headers);
    if (origin !== undefined) {
      reply.headers(crossOrigin(origin));
      if (isPreflight(request)) {
        preflight(request, reply, methods);
        return false;
      }
    }
    if (isClosing) throw new EngineError("unavailable", "the server is stopping; try again");
    if (pathOf(request).length > MAX_PATH_BYTES) {
      throw new EngineError("uri_too_long", "the path is longer than 2 KiB");
    }
    // A path without a route is refused before its body is read.
    if (request.is404) throw noRoute(request.method, pathOf(request), methods);
    return true;
  }

  /**
   * Counts a refused credential, wherever it was looked at. A client that has been refused too often
   * is not told any more what became of the next one, unless that counts (NET-2).
   */
  function limited(error: EngineError, { raw }: FastifyRequest): EngineError {
    if (error.code !== "unauthenticated" || !limits) return error;
    try {
      limits.take("auth_failures", addressKey(addressOf(raw)));
      return error;
    } catch (tooMany) {
      return tooMany as EngineError;
    }
  }

  const { runList, valueBytes = DEFAULT_VALUE_BYTES } = options;
  const shared = {
    authorize,
    methods,
    streams,
    bodies,
    pingTimer,
    resources,
    runList,
    valueBytes,
    redaction,
  };
  const tell: Binding["refuse"] = (thrown, request) => told(refuse(thrown, request), request);
  const watch = new StandingWatch(options.standingTimer ?? repeat);
  const binding: Binding = { ...shared, refuse: tell, limits, addressOf, watch, onRead };
  for (const [name, group] of Object.entries(options.routes)) {
    const handlers = options.handlers[name] as Handlers<typeof group>;
    const looks = options.looks?.[name] ?? {};
    const befores = options.befores?.[name] ?? {};
    bind(app, group, { name, handlers, looks, befores }, binding);
  }
  return app;
}

function shown(
  reply: FastifyReply,
  error: EngineError,
  redaction?: Redaction,
): FastifyReply | Promise<FastifyReply> {
  const refused = shownRefusal(error, redaction);
  if (refused instanceof Promise) return refused.then((known) => sendRefusal(reply, known));
  return sendRefusal(reply, refused);
}

function refusedOf(request: FastifyRequest, address: string | undefined): Refused {
  return {
    action: request.routeOptions.config.action ?? "",
    caller: request.caller,
    address,
    request_id: request.id,
  };
}

function serverOf(tls: Tls | undefined, handle: ReturnType<typeof inTurn>): Server {
  if (!tls) return createServer(CONNECTION, handle);
  const server = createTlsServer({ ...CONNECTION, ...tls.options }, handle);
  tls.onRenewed((options) => server.setSecureContext(options));
  // It has all that Fastify asks of a server of http.
  return server as unknown as Server;
}
