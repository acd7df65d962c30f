import type { GatewaySettings } from "./gateway-options.ts";

/**
 * Where clients find the gateway, without a slash at its end (MCA-4). What requests say of it never
 * counts, since anybody may say it.
 */
export function baseUrl(
  { mcpBaseUrl, host }: Pick<GatewaySettings, "mcpBaseUrl" | "host">,
  port: number,
): string {
  if (mcpBaseUrl !== undefined) return mcpBaseUrl.replace(/\/+$/, "");
  const isWildcard = host === "0.0.0.0" || host === "::";
  const name = isWildcard ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
