import type { CheckOutput, WaitLimits } from "@engine/mcp";
import type { TokenFetch } from "@engine/oidc";
import type { GatewayTiming } from "./timing.ts";
import type { IssuerSettings } from "./token-settings.ts";

/** Where the gateway writes what operators should know; pino's loggers are one. */
export interface GatewayLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** What `[engine.gateway]` and the options of `engine service start` say (GW-21); times in seconds. */
export interface GatewaySettings extends IssuerSettings {
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
  /** One for as long as it answers, then the next. */
  readonly serverUrls: readonly string[];
  /** How long a list of endpoints is used as it is; 0 = not at all. */
  readonly cacheTtl: number;
  /** For the head of the answer to a sync call; 0 = for ever. */
  readonly upstreamTimeout: number;
  /** Origins of pages that may call from a browser, besides those of this machine. */
  readonly allowOrigins: readonly string[];
  /** Whether MCP is served; where undefined, what each fetched list says. */
  readonly mcp: boolean | undefined;
  /** Where clients find the gateway. */
  readonly mcpBaseUrl: string | undefined;
  readonly mcpMaxSessions: number;
  readonly mcpSessionTtl: number;
}

export const GATEWAY_DEFAULTS: Readonly<Omit<GatewaySettings, "serverUrls">> = {
  host: "0.0.0.0",
  port: 9000,
  cacheTtl: 60,
  upstreamTimeout: 330,
  allowOrigins: [],
  mcp: undefined,
  mcpIssuer: undefined,
  mcpAudience: undefined,
  mcpJwksUri: undefined,
  mcpBaseUrl: undefined,
  mcpMaxSessions: 1000,
  mcpSessionTtl: 3600,
  oidc: undefined,
};

/** What serving tools takes beside what passing requests on does. */
export interface ToolOptions {
  /** Of the product, as clients are told. */
  readonly version: string;
  readonly limits: WaitLimits;
  /** Bytes that a value may have; a message is as long as the server's own may be. */
  readonly maxValueBytes: number;
  readonly checkOutput: CheckOutput;
  /** Makes an id that nobody guesses, of visible ASCII. */
  readonly newSessionId: () => string;
}

/** Whatever is left out of the settings is as {@link GATEWAY_DEFAULTS} has it. */
export interface GatewayOptions extends Partial<GatewaySettings> {
  /** Name of the service. */
  readonly service: string;
  readonly serverUrls: readonly string[];
  /**
   * The gateway's own token, with which it asks for the list; never put on a caller's request. Asked for
   * at each fetch: what a user has logged in with is renewed.
   */
  readonly token?: (() => Promise<string | undefined>) | undefined;
  readonly log: GatewayLog;
  readonly tools: ToolOptions;
  /** Makes request ids. */
  readonly ids: () => string;
  readonly timing?: GatewayTiming;
  /** For the keys of the issuer of tokens; the process's own unless given. */
  readonly fetch?: TokenFetch;
  /** Milliseconds since 1970, by which tokens expire; the process's own unless given. */
  readonly clock?: () => number;
}

/** The settings with their defaults. */
export function settingsOf(given: GatewayOptions): GatewaySettings {
  const defaults = GATEWAY_DEFAULTS;
  return {
    host: given.host ?? defaults.host,
    port: given.port ?? defaults.port,
    serverUrls: given.serverUrls,
    cacheTtl: given.cacheTtl ?? defaults.cacheTtl,
    upstreamTimeout: given.upstreamTimeout ?? defaults.upstreamTimeout,
    allowOrigins: given.allowOrigins ?? defaults.allowOrigins,
    mcp: given.mcp,
    mcpIssuer: given.mcpIssuer,
    mcpAudience: given.mcpAudience,
    mcpJwksUri: given.mcpJwksUri,
    mcpBaseUrl: given.mcpBaseUrl,
    mcpMaxSessions: given.mcpMaxSessions ?? defaults.mcpMaxSessions,
    mcpSessionTtl: given.mcpSessionTtl ?? defaults.mcpSessionTtl,
    oidc: given.oidc,
  };
}
