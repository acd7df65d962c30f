import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import {
  AnyJson,
  DEFAULT_NAMESPACE,
  EngineError,
  isRaw,
  permissionText,
  type Route,
} from "@engine/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import * as z from "zod";
import type { AuthorizationRequest, Authorize } from "./authorize.ts";
import { bodyLimitOf } from "./body-limit.ts";
import { addressKey } from "./client-address.ts";
import { answering } from "./failpoints.ts";
import type { Befores, Call, Handlers, Look, RouteTable } from "./handlers.ts";
import { printed } from "./json/json-text.ts";
import { LARGE_BYTES } from "./json/scan-json.ts";
import { refuseOtherMedia } from "./media-type.ts";
import { spokenRequest } from "./messages.ts";
import { firstSegment, fixedSegment, type PathMethods, routerPath } from "./path-pattern.ts";
import {
  denied,
  filled,
  isKnown,
  missingOf,
  type Owed,
  owedBy,
  permitOf,
  type Subject,
} from "./permit.ts";
import type { RateLimits } from "./rate-limits.ts";
import {
  type Redaction,
  type Redactor,
  redacted,
  redactedPieces,
  shownRefusal,
} from "./redaction.ts";
import { pathOf, tooLarge } from "./refusal.ts";
import type { Repeat } from "./repeat.ts";
import type { LinesReply, ProtocolReply, RawReply, ReplyHeaders, StreamReply } from "./reply.ts";
import type { RequestBodies, Takes } from "./request-bodies.ts";
import { RequestCall } from "./request-call.ts";
import { inputReader, lineInput, type RequestInput, type Resources } from "./request-input.ts";
import { serveLines } from "./serve-lines.ts";
import { serveProtocol } from "./serve-protocol.ts";
import { type OpenStreams, serveStream } from "./serve-stream.ts";
import { Standing, type StandingWatch } from "./standing.ts";
import { isToldOf, type Read, readOf } from "./told-of.ts";

/**
 * All that running a workflow takes (AUTH-31), by its name as `ns/wf`; undefined where there is none of
 * that name.
 */
export type RunList = (
  workflow: string,
  query: Readonly<Record<string, unknown>>,
) => Promise<readonly string[] | undefined>;

/** What every bound route shares. */
export interface Binding {
  readonly authorize: Authorize;
  readonly methods: PathMethods;
  readonly streams: OpenStreams;
  readonly bodies: RequestBodies;
  readonly pingTimer: Repeat;
  readonly watch: StandingWatch;
  readonly resources: Resources;
  readonly runList: RunList | undefined;
  readonly valueBytes: number;
  readonly redaction: Redaction | undefined;
  readonly limits: RateLimits | undefined;
  /** Of the client, as far as it can be known (NET-2). */
  readonly addressOf: (request: IncomingMessage) => string | undefined;
  readonly refuse: (thrown: unknown, request: FastifyRequest) => EngineError;
  readonly onRead: ((read: Read) => void) | undefined;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly standing: Standing | undefined;
}

type BeforeAny = (input: RequestInput, call: Pick<Call, "permit" | "caller">) => Promise<unknown>;
type JsonReply = { status: number; body: unknown; headers?: ReplyHeaders | undefined };
type AnyReply = JsonReply | RawReply | StreamReply | LinesReply<unknown> | ProtocolReply;

/** Serves a group of routes. The only place where a request becomes a call. */
export function bind<Group extends Readonly<Record<string, Route>>>(
  app: FastifyInstance,
  group: Group,
  {
    name: groupName,
    handlers,
    looks,
    befores,
  }: {
    name: string;
    handlers: Handlers<Group>;
    looks: Readonly<Record<string, Look | undefined>>;
    befores: Befores<RouteTable>[string];
  },
  binding: Binding,
): void {
  for (const [name, route] of Object.entries(group)) {
    // By their types the handlers have the keys of the table; in this loop only the row is known.
    const handle = handlers[name] as unknown as (
      input: RequestInput,
      call: Call,
    ) => AnyReply | Promise<AnyReply>;
    binding.methods.add(route);
    const bodyLimit = bodyLimitOf(route, binding.valueBytes);
    const owed = owedBy(route);
    const read = inputReader(route, binding.resources);
    const before = befores?.[name] as unknown as BeforeAny | undefined;
    const { body: _, ...head } = route;
    const readHead = before && inputReader(head, binding.resources);
    const tellRead = isToldOf(route) ? binding.onRead : undefined;

    app.route({
      method: route.method,
      url: routerPath(route.path),
      bodyLimit,
      config: {
        takes: takesOf(route, bodyLimit),
        action: `${groupName}.${name}`,
        isRedacted: redactionOf(route) !== undefined,
        isSpoken: route.speaks !== undefined,
      },
      // Fixed order (AUTH-5): the route, the declared size, how often this address asked, the caller
      // and what it may, how often the caller asked; only then the body is read.
      onRequest: async (request, reply) => {
        refuseUnmeant(route, request, binding.methods);
        if (Number(request.headers["content-length"]) > bodyLimit) {
          reply.header("connection", "close");
          throw tooLarge(bodyLimit);
        }
        const params = request.params as Record<string, string>;
        const { limit } = route;
        if (limit?.per === "address") {
          binding.limits?.take(limit.rate, addressKey(binding.addressOf(request.raw)));
        }
        request.caller = await binding.authorize(route, new UnreadRequest(request, binding));
        const { rights, principal } = request.caller;
        try {
          request.permit = permitOf(owed, params, request.headers, rights);
        } catch (refused) {
          throw await wholeRefusal(refused, owed, request);
        }
        if (limit?.per === "principal") binding.limits?.take(limit.rate, principal ?? "anonymous");
        refuseOtherMedia(request, route.lines !== undefined);
        if (before && readHead) await before(readHead(request), request);
        if (isLarge(request) && (route.body || route.speaks) && !route.lines) {
          await admit(route, name, request, reply);
        }
      },
      handler: async (request, reply) => {
        const call = new RequestCall(request, reply, {
          action: `${groupName}.${name}`,
          addressOf: binding.addressOf,
        });
        const standing = Standing.of(call.caller, call.permit);
        const handled = handle(read(request), call);
        const answered = await (standing ? whileAllowed(handled, call, standing) : handled);
        // An answer whose permission the handler did not demand may hold what the caller must not
        // see.
        if (!call.permit.isSettled) throw undemanded(route);
        tellRead?.(readOf(call, request.params as Record<string, string>));
        if (answering.hasSubscribers) answering.publish({ of: [`${route.method} ${route.path}`] });
        if ("answerLine" in answered)
          return converse(route, answered, { request, reply, standing });
        if ("frames" in answered) return serve(route, answered, { request, reply, standing }, call);
        if ("speak" in answered) return speak(answered, { request, reply, standing });
        const redaction = redactionOf(route);
        if (!redaction) return send(route, answered, reply);
        return send(route, answered, reply, redaction.known() ?? (await redaction.current()));
      },
    });
  }

  function redactionOf({ redact }: Route): Redaction | undefined {
    return redact === false ? undefined : binding.redaction;
  }

  /**
   * Refuses a large body before any of it is read, where its record is missing or memory is short.
   */
  async function admit(
    route: Route,
    name: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    await looks[name]?.({
      params: request.params as Record<string, string>,
      query: request.query as Record<string, unknown>,
      headers: request.headers,
    });
    const pool = route.permission.kind === "worker" ? "workers" : "callers";
    const length = Number(request.headers["content-length"] ?? 0);
    const reserved = binding.bodies.reserve(length, pool);
    request.reserved = reserved;
    reply.raw.once("close", reserved.release);
  }

  /**
   * A refusal that lacks the right to run names all that running takes, once the caller knows the
   * workflow anyway (AUTH-10).
   */
  async function wholeRefusal(
    refused: unknown,
    owed: Owed,
    { params, query, headers, caller: { rights } }: FastifyRequest,
  ): Promise<unknown> {
    if (owed.run === undefined || !rights || !binding.runList) return refused;
    const values = { namespace: DEFAULT_NAMESPACE, ...(query as object), ...(params as object) };
    const workflow = filled(owed.run, values);
    if (!isKnown(workflow, rights)) return refused;
    const list = await binding.runList(workflow, query as Record<string, unknown>);
    if (!list) return refused;
    const asked = { params: params as Subject, headers };
    return denied(missingOf(owed, asked, { rights, list }));
  }

  /**
   * What a handler answers, or a refusal where it waited and the caller lost meanwhile what lets it
   * wait. A change that is answered at once may well be what takes a right of the caller's own away.
   */
  async function whileAllowed(
    handled: AnyReply | Promise<AnyReply>,
    call: RequestCall,
    standing: Standing,
  ): Promise<AnyReply> {
    if (!(handled instanceof Promise)) return handled;
    const lost = Promise.withResolvers<never>();
    const stop = binding.watch.add(standing, (refused) => {
      if (call.isWaiting) lost.reject(refused);
    });
    try {
      const answered = await Promise.race([handled, lost.promise]);
      if (call.isWaiting) await standing.check();
      return answered;
    } catch (refused) {
      call.leave();
      void handled.then(abandon, () => undefined);
      throw refused;
    } finally {
      stop();
    }
  }

  function converse(
    route: Route,
    answered: LinesReply<unknown>,
    { request, reply, standing }: Exchange,
  ): void {
    reply.hijack();
    serveLines(request.raw, reply.raw, {
      headers: reply.getHeaders(),
      limit: bodyLimitOf(route, binding.valueBytes),
      streams: binding.streams,
      answer: (value) => answered.answerLine(lineInput(route, value)),
      standing,
      watch: binding.watch,
      refuse: (thrown) => binding.refuse(thrown, request),
    });
  }

  function speak(answered: ProtocolReply, { request, reply, standing }: Exchange): void {
    reply.hijack();
    const { streams, pingTimer, watch } = binding;
    const spoken = spokenRequest(request.raw, request.message);
    request.message = undefined;
    serveProtocol(spoken, reply.raw, answered.speak, {
      ...{ headers: reply.getHeaders(), streams, pingTimer, standing, watch },
      refuse: (thrown) => shownRefusal(binding.refuse(thrown, request), binding.redaction),
    });
  }

  function serve(
    route: Route,
    answered: StreamReply,
    { request, reply, standing }: Exchange,
    call: RequestCall,
  ): void {
    reply.hijack();
    serveStream(reply.raw, answered.frames, {
      headers: { ...reply.getHeaders(), ...answered.headers },
      streams: binding.streams,
      pingTimer: binding.pingTimer,
      cut: answered.cut,
      leave: () => call.leave(),
      standing,
      redaction: redactionOf(route),
      watch: binding.watch,
      refuse: (thrown) => binding.refuse(thrown, request),
    });
  }
}

/** Frames that nobody will read end where they wait. */
function abandon(answered: AnyReply): void {
  if (!("frames" in answered)) return;
  void answered.frames[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}

/** A request before its body is read. The address is found out when it is asked for. */
class UnreadRequest implements AuthorizationRequest {
  readonly request_id: string;
  readonly params: AuthorizationRequest["params"];
  readonly headers: AuthorizationRequest["headers"];
  readonly raw_headers: readonly string[];
  readonly #raw: IncomingMessage;
  readonly #addressOf: Binding["addressOf"];

  constructor(request: FastifyRequest, { addressOf }: Pick<Binding, "addressOf">) {
    this.request_id = request.id;
    this.params = request.params as Record<string, string>;
    this.headers = request.headers;
    this.raw_headers = request.raw.rawHeaders;
    this.#raw = request.raw;
    this.#addressOf = addressOf;
  }

  get address(): string | undefined {
    return this.#addressOf(this.#raw);
  }
}

function undemanded({ method, path, permission }: Route): Error {
  const needed = permissionText(permission);
  return new Error(`the handler of ${method} ${path} did not demand what it has to of ${needed}`);
}

/** Whether a body is large, or may be: a chunked request does not say how long its body is. */
function isLarge({ headers }: FastifyRequest): boolean {
  return (
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > LARGE_BYTES
  );
}

function takesOf({ body, permission, bodyLimit }: Route, limit: number): Takes {
  const fields = bodyLimit === undefined ? {} : shapeOf(body);
  const anyFields = new Set(Object.keys(fields).filter((name) => isAny(fields[name])));
  const isAnyJson = body === AnyJson;
  const isNamed = bodyLimit !== undefined && !isAnyJson && anyFields.size === 0;
  const isOfCallers = permission.kind !== "worker";
  return { limit, isAnyJson, anyFields, isNamed: isNamed && isOfCallers };
}

function shapeOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  if (schema instanceof z.ZodNullable) return shapeOf(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
}

function isAny(schema: z.ZodType | undefined): boolean {
  return schema === AnyJson || (schema instanceof z.ZodOptional && schema.unwrap() === AnyJson);
}

/**
 * Refuses what the router matched although the table does not mean it: an empty segment for a
 * parameter, and `/{workflow_name}` for the first segment of a fixed path, whatever the method
 * (EXE-89).
 */
function refuseUnmeant(route: Route, request: FastifyRequest, methods: PathMethods): void {
  const path = pathOf(request);
  const isReserved =
    fixedSegment(route.path) === undefined && methods.isReserved(firstSegment(path));
  const isEmpty = Object.values(request.params as object).includes("");
  if (isReserved || isEmpty) throw noRoute(request.method, path, methods);
}

/** The 404 or 405 of a path; a 405's `details.allow` also becomes the `Allow` header. */
export function noRoute(method: string, path: string, methods: PathMethods): EngineError {
  const allow = methods.of(path);
  if (allow.length === 0) {
    return new EngineError("not_found", `no route ${method} ${path}; GET /openapi.json lists all`, {
      details: { resource: "route" },
    });
  }
  const message = `${path} does not take ${method}; it takes ${allow.join(", ")}`;
  return new EngineError("method_not_allowed", message, { details: { allow } });
}

function send(
  route: Route,
  answered: JsonReply | RawReply,
  reply: FastifyReply,
  redactor?: Redactor,
): FastifyReply {
  const { status, headers = {} } = answered;
  const row = route.answers[status];
  const type = row && isRaw(row) ? row.raw : "application/json; charset=utf-8";
  reply.code(status);
  if (type !== null) reply.header("content-type", type);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) reply.header(name, value);
  }
  if ("raw" in answered) return reply.send(shownRaw(answered.raw, type, redactor));
  if (type === null) return reply.send();
  if (row && isRaw(row)) return reply.send(shownRaw(answered.body as string, type, redactor));
  const text = printed(answered.body);
  if (typeof text === "string")
    return reply.send(redactor ? redacted(redactor, "json", text) : text);
  // Stored values are read from storage while the answer leaves.
  return reply.send(Readable.from(redactor ? redactedPieces(text, redactor) : text));
}

function shownRaw(
  raw: string | Uint8Array,
  type: string | null,
  redactor: Redactor | undefined,
): string | Uint8Array {
  if (!redactor) return raw;
  const text = typeof raw === "string" ? raw : Buffer.from(raw).toString();
  return redacted(redactor, type?.startsWith("application/json") ? "json" : "text", text);
}
