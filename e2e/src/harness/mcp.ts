/** Messages of MCP as clients of its newest revision send them: each stands by itself. */

const REVISION = "2026-07-28";
const CLIENT = {
  "io.modelcontextprotocol/protocolVersion": REVISION,
  "io.modelcontextprotocol/clientInfo": { name: "by hand", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** What clients of every revision send a message with. */
export const MCP_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

interface Message {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>>;
}

interface Sent {
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

export function mcpMessage({ method, params = {}, meta = {} }: Message): Sent {
  const name = params["name"];
  return {
    headers: {
      ...MCP_HEADERS,
      "mcp-protocol-version": REVISION,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: { ...CLIENT, ...meta } } },
  };
}

interface Called {
  readonly name: string;
  readonly given?: unknown;
  readonly meta?: Readonly<Record<string, unknown>>;
}

export function mcpCall({ name, given = {}, meta }: Called): Sent {
  const params = { name, arguments: given };
  return mcpMessage({ method: "tools/call", params, ...(meta && { meta }) });
}

export function mcpSubscription(): Sent {
  const params = { notifications: { toolsListChanged: true } };
  return mcpMessage({ method: "subscriptions/listen", params });
}
