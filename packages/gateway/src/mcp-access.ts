import type { IncomingMessage } from "node:http";
import { EngineError, type ResourceMetadata } from "@engine/contract";
import {
  createTokenVerifier,
  type SetTimer,
  type TokenFetch,
  TokenRefusal,
  type TokenVerifier,
} from "@engine/oidc";
import type { GatewayLog, GatewaySettings } from "./gateway-options.ts";
import { type IssuerSettings, type TokenSettings, tokenSettings } from "./token-settings.ts";

export interface McpAccessOptions {
  /** Name of the service. */
  readonly service: string;
  readonly settings: IssuerSettings & Pick<GatewaySettings, "mcp">;
  /** Where clients find the gateway; asked once it listens. */
  readonly base: () => string;
  readonly fetch: TokenFetch;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
  readonly log: Pick<GatewayLog, "warn">;
}

/** Whose an MCP request is. */
export interface TokenOwner {
  /** The same text for the same `iss` and `sub`, and for no others. */
  readonly owner: string;
}

const METADATA_PATH = "/.well-known/oauth-protected-resource/mcp";

/**
 * Who may come to `/mcp`, where an issuer of tokens is configured (AUTH-17). It grants nothing: the
 * token goes on to the server, which authenticates it again and decides (MCA-8).
 */
export class McpAccess {
  readonly #options: McpAccessOptions;
  readonly #tokens: TokenSettings | undefined;
  readonly #verifier: TokenVerifier | undefined;
  #isWarned = false;

  /** @throws EngineError `invalid_input` for settings that cannot be used. */
  constructor(options: McpAccessOptions) {
    this.#options = options;
    const { settings, fetch, clock, setTimer, log } = options;
    // Where MCP is off for good, what is set for its tokens means nothing (GW-22).
    const tokens = settings.mcp === false ? undefined : tokenSettings(settings);
    this.#tokens = tokens;
    if (!tokens) return;
    const { issuer } = tokens;
    const warn = (message: string) => log.warn({ issuer }, message);
    this.#verifier = createTokenVerifier({ ...tokens, fetch, clock, setTimer, warn });
  }

  /** Undefined where tokens are left to the server. */
  get issuer(): string | undefined {
    return this.#tokens?.issuer;
  }

  /** Says once what operators may not have meant (MCA-6). */
  warn(): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    const { settings, log } = this.#options;
    const { issuer, audience } = this.#tokens ?? {};
    if (issuer !== undefined && audience === undefined) {
      log.warn({ issuer }, "no audience is set: tokens that the issuer made for others are taken");
    }
    if (issuer === undefined && (settings.mcpAudience ?? settings.mcpJwksUri) !== undefined) {
      log.warn(
        {},
        "no issuer is set: the gateway looks at no token, and leaves them to the server",
      );
    }
  }

  /**
   * Says whose a request is; undefined where tokens are left to the server.
   *
   * @throws EngineError `unauthenticated`, whose answer tells where to get a token and which check
   *   this one failed (MCA-2).
   * @throws EngineError `auth_unavailable` while the issuer's keys cannot be had (MCA-7).
   */
  async check(request: Pick<IncomingMessage, "headersDistinct">): Promise<TokenOwner | undefined> {
    if (!this.#verifier) return undefined;
    // MCP may have been off at start.
    this.warn();
    const token = this.#tokenOf(request);
    try {
      const { issuer, subject } = await this.#verifier.verify(token);
      return { owner: JSON.stringify([issuer, subject]) };
    } catch (error) {
      if (!(error instanceof TokenRefusal)) throw error;
      const { reason, check, message } = error;
      throw this.#refusal(message, { reason, check });
    }
  }

  /** Undefined without an issuer (MCA-3). */
  metadata(): ResourceMetadata | undefined {
    const { issuer } = this;
    if (issuer === undefined) return undefined;
    return {
      resource: `${this.#options.base()}/mcp`,
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      resource_name: this.#options.service,
    };
  }

  #tokenOf({ headersDistinct }: Pick<IncomingMessage, "headersDistinct">): string {
    const [credential, ...others] = headersDistinct["authorization"] ?? [];
    if (credential === undefined) {
      const message = "the request has no token; send Authorization: Bearer <token>";
      throw this.#refusal(message, { reason: "missing" });
    }
    const token = /^bearer +(\S+)$/i.exec(credential.trim())?.[1];
    if (token !== undefined && others.length === 0) return token;
    const message = "expected one Authorization header with Bearer and one token";
    throw this.#refusal(message, { reason: "malformed" });
  }

  #refusal(
    message: string,
    failed: { readonly reason: string; readonly check?: string },
  ): EngineError {
    const resource_metadata = this.#options.base() + METADATA_PATH;
    return new EngineError("unauthenticated", message, {
      details: { ...failed, resource_metadata },
    });
  }
}
