import { clientUrl } from "@engine/http";
import type { GatewaySettings } from "./gateway-options.ts";

/**
 * Where clients find the gateway, without a slash at its end (MCA-4). What requests say of it never
 * counts, since anybody may say it.
 *
 * @throws TypeError for a base URL that {@link baseUrlProblem} complains of.
 */
export function baseUrl(
  { mcpBaseUrl, host }: Pick<GatewaySettings, "mcpBaseUrl" | "host">,
  port: number,
): string {
  // As a URL has it: what stands in headers then holds no character that they do not take.
  if (mcpBaseUrl !== undefined) return new URL(mcpBaseUrl).href.replace(/\/+$/, "");
  return clientUrl("http", { host, port });
}

/** What is wrong with a base URL (MCA-1); undefined when it may be used. */
export function baseUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return "expected an absolute URL with http or https";
  }
  if (url.username !== "" || url.password !== "") return "expected a URL without user and password";
  // Also where nothing follows: the paths of the gateway come behind it.
  if (/[?#]/.test(text)) return "expected a URL without query and fragment";
  return undefined;
}
