import type { AuthInfo } from "@modelcontextprotocol/server";
import type { ServiceCalls } from "./service-calls.ts";

/** Who sent one HTTP request, as the process found out before it came here. */
export interface McpCaller {
  /** What the request's calls are made with: its own credential (MCP-8). */
  readonly calls: ServiceCalls;
  /** Whether the request carried a token, so that lists are for its bearer only (MCP-19). */
  readonly hasToken: boolean;
  /** `iss` and `sub` of a validated token, in any form; sessions belong to it (MCP-16). */
  readonly owner?: string | undefined;
}

const callers = new WeakMap<AuthInfo, McpCaller>();

/**
 * The caller in the form in which the SDK hands one on to handlers. Nothing of the token is in it: the
 * SDK needs none, and what it does not have it cannot log.
 */
export function authInfoOf(caller: McpCaller): AuthInfo {
  const info: AuthInfo = { token: "", clientId: "", scopes: [] };
  callers.set(info, caller);
  return info;
}

/** The caller of a request that was handed on with {@link authInfoOf}. */
export function callerOf(info: AuthInfo | undefined): McpCaller {
  const caller = info && callers.get(info);
  if (!caller) throw new Error("a request reached its handler without its caller");
  return caller;
}
