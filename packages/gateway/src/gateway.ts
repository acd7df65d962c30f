import { EngineError, type ErrorCode, notFound, type ResolvedService } from "@engine/contract";
import { SECURITY_HEADERS } from "@engine/http";
import { admitPage } from "./admit-page.ts";
import { baseUrl } from "./base-url.ts";
import { Condition } from "./condition.ts";
import { EndpointList } from "./endpoint-list.ts";
import { answerJson, answerRefusal, type Exchange } from "./exchange.ts";
import { fetchList } from "./fetch-list.ts";
import { forward, type OpenStreams } from "./forward.ts";
import { GatewayMcp } from "./gateway-mcp.ts";
import { type GatewayOptions, type GatewaySettings, settingsOf } from "./gateway-options.ts";
import { isReserved, lookUp, readTarget, type ServiceCall } from "./gateway-path.ts";
import { GatewayServer } from "./gateway-server.ts";
import { McpAccess } from "./mcp-access.ts";
import { OriginRule } from "./origin-rule.ts";
import { RequestLine, reasonOf } from "./request-line.ts";
import { serveDocument } from "./serve-document.ts";
import { type GatewayTiming, systemTiming } from "./timing.ts";
import { Upstream } from "./upstream.ts";

/** How the gateway is, without asking anybody (GW-20). */
export interface GatewayHealth {
  readonly status: "healthy" | "degraded";
  readonly service: string;
  /** 0 before the first list. */
  readonly endpoints: number;
  readonly cache_age_seconds: number;
  readonly mcp_enabled: boolean;
  readonly last_error: ErrorCode | null;
}

/** What a gateway that has started says of itself (GW-22). */
export interface GatewayStarted {
  readonly service: string;
  readonly url: string;
  readonly server_url: string;
  readonly endpoints: number;
  readonly mcp_enabled: boolean;
  readonly mcp_url: string | null;
  readonly mcp_issuer: string | null;
}

/** For the head of an answer that waits for no execution (GW-14). */
const HEAD_MS = 30_000;

/**
 * The process that serves one service at the root of its own address: it passes requests on to the
 * servers, and knows itself only which endpoints there are.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #settings: GatewaySettings;
  readonly #timing: GatewayTiming;
  readonly #condition = new Condition();
  readonly #upstream: Upstream;
  readonly #endpoints: EndpointList;
  readonly #mcp: GatewayMcp;
  readonly #origins: OriginRule;
  readonly #access: McpAccess;
  readonly #server: GatewayServer;
  readonly #streams: OpenStreams = new Set();
  /** Where clients find it; known once it listens. */
  #base = "";
  /** Names that were warned of. */
  readonly #hidden = new Set<string>();
  /** What was last said of fetches that fail: it is not said again at each. */
  #complaint: ErrorCode | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#settings = settingsOf(options);
    const { service, token, log, ids, timing = systemTiming } = options;
    const { serverUrls, cacheTtl, allowOrigins, mcpBaseUrl } = this.#settings;
    const condition = this.#condition;
    this.#timing = timing;
    this.#upstream = new Upstream({
      urls: serverUrls,
      timing,
      condition,
      onExposed: (host) =>
        log.warn({ host }, "credentials go over plain http, where others can read them: use https"),
    });
    this.#endpoints = new EndpointList({
      service,
      fetch: fetchList({ service, upstream: this.#upstream, token }),
      ttlMs: cacheTtl * 1000,
      timing,
      condition,
      onList: (list) => {
        if (list) this.#warnOfHidden(list);
        this.#mcp.take(list);
      },
      onFetched: (failure) => this.#complain(failure),
    });
    this.#mcp = new GatewayMcp({
      ...options.tools,
      ...{ service, settings: this.#settings, upstream: this.#upstream, timing, log },
      endpoints: this.#endpoints,
      headMs: HEAD_MS,
    });
    const own = mcpBaseUrl === undefined ? [] : [mcpBaseUrl];
    this.#origins = new OriginRule([...allowOrigins, ...own]);
    this.#access = new McpAccess({
      ...{ service, settings: this.#settings, log, setTimer: timing.setTimer },
      base: () => this.#base,
      fetch: options.fetch ?? fetch,
      clock: options.clock ?? Date.now,
    });
    this.#server = new GatewayServer({ handle: (exchange) => this.#serve(exchange), ids, timing });
  }

  /**
   * Listens and fetches the list for the first time. A server that cannot be reached, or does not
   * know the service, is no reason not to start.
   *
   * @throws EngineError `conflict` when the address cannot be had.
   */
  async start(): Promise<GatewayStarted> {
    const { host, port, serverUrls, mcpIssuer, mcpAudience, mcpJwksUri } = this.#settings;
    const listening = await this.#server.listen({ host, port });
    this.#base = baseUrl(this.#settings, listening.port);
    await this.#endpoints.refresh(undefined);
    const { endpoints, mcp_enabled } = this.health();
    if (mcp_enabled) this.#access.warn();
    else if ((mcpIssuer ?? mcpAudience ?? mcpJwksUri) !== undefined) {
      this.#options.log.warn({}, "MCP is off: what is set for its tokens means nothing");
    }
    return {
      service: this.#options.service,
      url: listening.url,
      server_url: serverUrls[0] ?? "",
      endpoints,
      mcp_enabled,
      mcp_url: mcp_enabled ? `${this.#base}/mcp` : null,
      mcp_issuer: this.#access.issuer ?? null,
    };
  }

  health(): GatewayHealth {
    const list = this.#endpoints.service;
    const last_error = this.#condition.error;
    return {
      status: last_error === null ? "healthy" : "degraded",
      service: this.#options.service,
      endpoints: list?.endpoints.length ?? 0,
      cache_age_seconds: Math.round((this.#endpoints.ageMs ?? 0) / 100) / 10,
      mcp_enabled: this.#mcp.isOn,
      last_error,
    };
  }

  /**
   * Takes nothing new, ends streams, and returns once all other requests are answered, or after 30
   * seconds (GW-23).
   */
  async drain(): Promise<void> {
    const drained = this.#server.drain();
    for (const end of this.#streams) end();
    void this.#mcp.end();
    await drained;
    await this.close();
  }

  /** Ends everything at once, also while it drains. */
  async close(): Promise<void> {
    this.#endpoints.close();
    await this.#mcp.close();
    await this.#server.close();
    this.#upstream.close();
  }

  #serve(exchange: Exchange): void {
    const { request, response } = exchange;
    const request_id = this.#options.ids();
    const line = new RequestLine(exchange, this.#options.log, this.#timing);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    response.setHeader("x-request-id", request_id);
    this.#answer(exchange, line).catch((thrown: unknown) => {
      const error = this.#refusal(thrown, request_id);
      line.refused(error);
      // What the client still sends is not for anybody.
      request.resume();
      answerRefusal(response, error);
    });
  }

  async #answer(exchange: Exchange, line: RequestLine): Promise<void> {
    const { service } = this.#options;
    const { method = "", url = "" } = exchange.request;
    if (admitPage(exchange, lookUp(url, service), this.#origins)) return;
    const target = readTarget(method, url, service);
    line.target = target;
    if (target.kind !== "health" && this.#server.isDraining) throw stopping();
    switch (target.kind) {
      case "health":
        return answerJson(exchange.response, 200, this.health());
      case "openapi":
        return serveDocument(exchange, {
          ...{ upstream: this.#upstream, service, headMs: HEAD_MS },
          base: this.#base,
        });
      case "mcp":
        await this.#mcp.admit(exchange);
        return this.#mcp.serve(exchange, (await this.#access.check(exchange.request))?.owner);
      case "metadata":
        return answerJson(exchange.response, 200, this.#access.metadata() ?? noIssuer());
      case "call":
        return this.#call(exchange, target);
    }
  }

  async #call(
    { request, response }: Exchange,
    { workflow, path, manner }: ServiceCall,
  ): Promise<void> {
    const { url = "", headers } = request;
    await this.#endpoints.admit(workflow, headers.authorization);
    const query = url.indexOf("?");
    await forward(request, response, {
      upstream: this.#upstream,
      path: query === -1 ? path : path + url.slice(query),
      headMs: manner === "sync" ? this.#settings.upstreamTimeout * 1000 : HEAD_MS,
      timing: this.#timing,
      streams: this.#streams,
      isEnding: () => this.#server.isDraining,
      onStatus: (status) => {
        if (status === 404) this.#endpoints.doubt();
      },
    });
  }

  /** A defect is logged whole and told as one. */
  #refusal(thrown: unknown, request_id: string): EngineError {
    if (thrown instanceof EngineError && thrown.code !== "internal") return thrown;
    this.#options.log.error({ err: thrown, request_id }, "a request failed");
    const message = `the gateway failed; its log tells why under ${request_id}`;
    return new EngineError("internal", message, { details: { request_id } });
  }

  #warnOfHidden({ endpoints }: ResolvedService): void {
    for (const { name, path } of endpoints) {
      if (!isReserved(name) || this.#hidden.has(name)) continue;
      this.#hidden.add(name);
      this.#options.log.warn(
        { name, path },
        "a workflow has a reserved name: it has only this path",
      );
    }
  }

  #complain(failure: EngineError | undefined): void {
    const told = this.#complaint;
    this.#complaint = failure?.code;
    if (!failure || failure.code === told || this.#server.isDraining) return;
    const { code, message, cause } = failure;
    const reason = cause === undefined ? message : reasonOf(cause);
    this.#options.log.warn({ code, reason }, "the endpoints of the service cannot be fetched");
  }
}

function noIssuer(): never {
  throw notFound("route", "of this name, since no issuer of tokens is configured");
}

function stopping(): EngineError {
  return new EngineError("unavailable", "the gateway is stopping; try again");
}
