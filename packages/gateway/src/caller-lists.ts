import { createHash } from "node:crypto";
import type { ResolvedService } from "@engine/contract";
import { Condition } from "./condition.ts";
import { EndpointList } from "./endpoint-list.ts";
import { fetchList } from "./fetch-list.ts";
import type { GatewayTiming } from "./timing.ts";
import type { Upstream } from "./upstream.ts";

export interface CallerListsOptions {
  /** Name of the service. */
  readonly service: string;
  readonly upstream: Upstream;
  readonly ttlMs: number;
  readonly timing: GatewayTiming;
}

/** Callers that are remembered; the oldest go first. */
const MOST = 1_000;

/**
 * The service as each caller of tools is told of it, remembered per token for as long as a list is used
 * (MCP-19). The gateway's own token never asks for anybody.
 */
export class CallerLists {
  readonly #options: CallerListsOptions;
  readonly #lists = new Map<string, EndpointList>();

  constructor(options: CallerListsOptions) {
    this.#options = options;
  }

  /**
   * @param options.fresh A tool was missed: what is remembered will not do.
   * @throws EngineError as the server refuses it; `upstream_unreachable` or `upstream_timeout` where
   *   nothing is remembered.
   */
  get(
    authorization: string | undefined,
    { fresh = false }: { readonly fresh?: boolean } = {},
  ): Promise<ResolvedService> {
    return this.#of(authorization).read(authorization, { fresh });
  }

  #of(authorization: string | undefined): EndpointList {
    // Tokens are not kept as they are.
    const key = authorization && createHash("sha256").update(authorization).digest("base64url");
    const known = this.#lists.get(key ?? "");
    if (known) return known;
    const [oldest] = this.#lists.keys();
    if (oldest !== undefined && this.#lists.size >= MOST) this.#lists.delete(oldest);
    const { service, upstream, ttlMs, timing } = this.#options;
    const list = new EndpointList({
      ...{ service, ttlMs, timing },
      fetch: fetchList({ service, upstream }),
      // What one caller may not have says nothing of how the gateway is.
      condition: new Condition(),
    });
    this.#lists.set(key ?? "", list);
    return list;
  }
}
