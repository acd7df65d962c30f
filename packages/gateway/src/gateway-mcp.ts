import { createClient } from "@engine/client";
import { EngineError, type ResolvedService, routes } from "@engine/contract";
import { bodyLimitOf, Messages } from "@engine/http";
import { type McpCaller, SessionEndpoint, serviceRequests } from "@engine/mcp";
import { CallerLists } from "./caller-lists.ts";
import type { EndpointList } from "./endpoint-list.ts";
import type { Exchange } from "./exchange.ts";
import { callerHeaders } from "./forwarded-headers.ts";
import type { GatewayLog, GatewaySettings, ToolOptions } from "./gateway-options.ts";
import { reasonOf } from "./request-line.ts";
import type { GatewayTiming } from "./timing.ts";
import type { Upstream } from "./upstream.ts";
import { ANY_SERVER, upstreamFetch } from "./upstream-fetch.ts";

export interface GatewayMcpOptions extends ToolOptions {
  /** Name of the service. */
  readonly service: string;
  readonly settings: Pick<GatewaySettings, "mcp" | "cacheTtl" | "mcpMaxSessions" | "mcpSessionTtl">;
  readonly upstream: Upstream;
  readonly endpoints: EndpointList;
  /** For the head of an answer that waits for no execution. */
  readonly headMs: number;
  readonly timing: GatewayTiming;
  readonly log: Pick<GatewayLog, "info" | "error">;
}

/** Between two looks for changes, while somebody wants to be told of them and no list is kept. */
const LEAST_LOOK_MS = 1_000;

/** The tools of the service at `/mcp` (GW-7), while MCP is on. */
export class GatewayMcp {
  readonly #options: GatewayMcpOptions;
  readonly #lists: CallerLists;
  readonly #messages = new Messages();
  readonly #maxBodyBytes: number;
  #endpoint: SessionEndpoint | undefined;
  #stopLooking: (() => void) | undefined;
  /** Of the last request: a gateway without a token of its own looks for changes with it. */
  #authorization: string | undefined;

  constructor(options: GatewayMcpOptions) {
    this.#options = options;
    const { service, upstream, settings, timing } = options;
    const ttlMs = settings.cacheTtl * 1000;
    this.#maxBodyBytes = bodyLimitOf(routes.services.mcp, options.maxValueBytes);
    this.#lists = new CallerLists({ service, upstream, ttlMs, timing });
  }

  /** What is set, or what the list says (GW-21). */
  get isOn(): boolean {
    const { settings, endpoints } = this.#options;
    return settings.mcp ?? endpoints.service?.mcp_enabled ?? false;
  }

  /**
   * Returns where tools are served, as far as is known.
   *
   * @throws EngineError `mcp_disabled`; what the server refused, and `upstream_unreachable`, where only
   *   the server can tell.
   */
  async admit({ request }: Exchange): Promise<void> {
    const { settings, endpoints } = this.#options;
    const { authorization } = request.headers;
    if (settings.mcp === undefined) await endpoints.freshen(authorization);
    if (!this.isOn) throw this.#disabled();
  }

  /** Answers a request of the protocol. @param owner Of its token, where tokens are looked at. */
  async serve({ request, response }: Exchange, owner: string | undefined): Promise<void> {
    const { authorization } = request.headers;
    const spoken = await this.#messages.read(request, response, this.#maxBodyBytes);
    // It may have been switched off while the message came.
    if (!this.isOn) throw this.#disabled();
    this.#authorization = authorization;
    const endpoint = this.#served();
    this.#stopLooking ??= this.#lookLater();
    const calls = this.#callsOf(request, authorization);
    const caller: McpCaller = { calls, hasToken: authorization !== undefined, owner };
    await endpoint.handle(spoken, response, caller);
  }

  /** Takes what the service offers now; undefined when there is none any more. */
  take(service: ResolvedService | undefined): void {
    if (this.isOn) this.#endpoint?.update(service?.endpoints ?? []);
    else void this.end();
  }

  /** Ends sessions, subscriptions and calls; executions go on. */
  async end(): Promise<void> {
    this.#stopLooking?.();
    this.#stopLooking = undefined;
    const endpoint = this.#endpoint;
    this.#endpoint = undefined;
    await endpoint?.close();
  }

  /** The same for good. */
  async close(): Promise<void> {
    await Promise.all([this.end(), this.#messages.close()]);
  }

  #disabled(): EngineError {
    const message = `service ${this.#options.service} offers no tools here`;
    return new EngineError("mcp_disabled", message);
  }

  #served(): SessionEndpoint {
    if (this.#endpoint) return this.#endpoint;
    const { service, settings, endpoints, timing, log, ...options } = this.#options;
    const endpoint = new SessionEndpoint({
      ...{ service, version: options.version, limits: options.limits },
      describe: () => endpoints.service?.description ?? null,
      listTtlMs: settings.cacheTtl * 1000,
      maxBodyBytes: this.#maxBodyBytes,
      checkOutput: options.checkOutput,
      max_sessions: settings.mcpMaxSessions,
      session_ttl: settings.mcpSessionTtl,
      newSessionId: options.newSessionId,
      clock: timing.now,
      setTimer: timing.setTimer,
      onError: (error) => log.info({ reason: reasonOf(error) }, "a message of MCP was not taken"),
      onDefect: (err) => log.error({ err }, "a call of a tool failed"),
    });
    endpoint.update(endpoints.service?.endpoints ?? []);
    this.#endpoint = endpoint;
    return endpoint;
  }

  #callsOf(request: Exchange["request"], authorization: string | undefined): McpCaller["calls"] {
    const { service, upstream, headMs, endpoints } = this.#options;
    const options = { headMs, authorization, headers: callerHeaders(request) };
    const client = createClient({
      baseUrl: ANY_SERVER,
      fetch: upstreamFetch(upstream, options),
    });
    return serviceRequests({
      service,
      client,
      list: async (asked = {}) => {
        // A tool was missed: whoever listens is told what has changed (MCP-18).
        if (asked.fresh) void endpoints.renew(authorization);
        return this.#lists.get(authorization, asked);
      },
    });
  }

  /** Whoever listens is told of changes that nobody asked for. */
  #lookLater(): () => void {
    const { settings, timing, endpoints } = this.#options;
    const ms = Math.max(settings.cacheTtl * 1000, LEAST_LOOK_MS);
    return timing.setTimer(() => {
      this.#stopLooking = undefined;
      if (!this.#endpoint?.listeners) return;
      this.#stopLooking = this.#lookLater();
      void endpoints.refresh(this.#authorization);
    }, ms);
  }
}
