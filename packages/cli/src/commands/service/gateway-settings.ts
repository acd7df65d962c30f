import { type Config, EngineError } from "@engine/contract";
import type { GatewaySettings, SettingProblem } from "@engine/gateway";
import { loadConfig } from "@engine/local/config";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";

/** What may be typed behind `engine service start`, besides what every command takes. */
export interface GatewayFlags {
  readonly host?: string;
  readonly port?: number;
  readonly serverUrl?: string[];
  readonly cacheTtl?: number;
  readonly upstreamTimeout?: number;
  readonly allowOrigin?: string[];
  readonly mcp?: boolean | undefined;
  readonly mcpIssuer?: string;
  readonly mcpAudience?: string;
  readonly mcpJwksUri?: string;
  readonly mcpBaseUrl?: string;
  readonly mcpMaxSessions?: number;
  readonly mcpSessionTtl?: number;
}

/**
 * Reads the configuration with the flags laid over it (GW-21).
 *
 * @throws UsageError: a value that cannot work is wrong usage, wherever it was set.
 */
export function gatewayConfig(io: CliIo, flags: GatewayFlags): Config {
  const gateway = {
    host: flags.host,
    port: flags.port,
    cache_ttl: flags.cacheTtl,
    upstream_timeout: flags.upstreamTimeout,
    allow_origins: flags.allowOrigin,
    mcp: flags.mcp,
    mcp_issuer: flags.mcpIssuer,
    mcp_audience: flags.mcpAudience,
    mcp_jwks_uri: flags.mcpJwksUri,
    mcp_base_url: flags.mcpBaseUrl,
    mcp_max_sessions: flags.mcpMaxSessions,
    mcp_session_ttl: flags.mcpSessionTtl,
  };
  try {
    return loadConfig({ ...io, flags: { server_url: flags.serverUrl?.[0], gateway } }).config;
  } catch (error) {
    throw error instanceof EngineError ? new UsageError(error.message) : error;
  }
}

/** What the gateway is told of it. */
export function gatewaySettings({
  gateway,
  security: { auth },
}: Config): Omit<GatewaySettings, "serverUrls"> {
  return {
    host: gateway.host,
    port: gateway.port,
    cacheTtl: gateway.cache_ttl,
    upstreamTimeout: gateway.upstream_timeout,
    allowOrigins: gateway.allow_origins,
    mcp: gateway.mcp,
    mcpIssuer: gateway.mcp_issuer,
    mcpAudience: gateway.mcp_audience,
    mcpJwksUri: gateway.mcp_jwks_uri,
    mcpBaseUrl: gateway.mcp_base_url,
    mcpMaxSessions: gateway.mcp_max_sessions,
    mcpSessionTtl: gateway.mcp_session_ttl,
    oidc: auth.oidc.enabled ? auth.oidc : undefined,
  };
}

const FLAG_OF = {
  "gateway.mcp_issuer": ["--mcp-issuer", "mcpIssuer"],
  "gateway.mcp_audience": ["--mcp-audience", "mcpAudience"],
  "gateway.mcp_jwks_uri": ["--mcp-jwks-uri", "mcpJwksUri"],
  "gateway.mcp_base_url": ["--mcp-base-url", "mcpBaseUrl"],
} as const satisfies Readonly<Record<string, readonly [string, keyof GatewayFlags]>>;

/** @throws UsageError for settings that cannot be used, a line for each, named as it was set. */
export function refuseProblems(problems: readonly SettingProblem[], flags: GatewayFlags): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ key, message }) => {
    const [option, flag] = FLAG_OF[key as keyof typeof FLAG_OF] ?? [];
    const isTyped = flag !== undefined && flags[flag] !== undefined;
    return `${isTyped ? option : `engine.${key}`}: ${message}`;
  });
  throw new UsageError(lines.join("\n"));
}
