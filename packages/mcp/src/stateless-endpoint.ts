import {
  createMcpHandler,
  InMemoryServerEventBus,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import { authInfoOf, callerOf } from "./caller.ts";
import { answerNode, type EndpointOptions, type McpEndpoint } from "./endpoint.ts";
import { protocolServer } from "./protocol-server.ts";
import { ToolChanges } from "./tool-changes.ts";

/**
 * The endpoint of a server: it keeps nothing between requests, so any replica answers any of them, and
 * answers GET and DELETE with 405 (MCP-17). Only subscriptions of the revision 2026-07-28 are told of
 * changes. `notifications/cancelled` of the older ones is taken and has no effect, since nothing
 * connects it with the request that it means.
 */
export function createStatelessEndpoint(options: EndpointOptions): McpEndpoint {
  const changes = new ToolChanges();
  const bus = new InMemoryServerEventBus(options.onError);
  const handler = sdkHandler(options, "stateless", bus);
  return {
    handle: (request, response, caller, body) =>
      answerNode(request, response, { body, endpoint: options }, (web) =>
        handler.fetch(web, {
          authInfo: authInfoOf(caller),
          ...(body !== undefined && { parsedBody: body }),
        }),
      ),
    update(endpoints) {
      if (changes.differ(endpoints)) handler.notify.toolsChanged();
    },
    get listeners() {
      return bus.listenerCount;
    },
    close: () => handler.close(),
  };
}

/** The SDK's own handler, which answers each request with a server made for it. */
export function sdkHandler(
  options: EndpointOptions,
  legacy: "stateless" | "reject",
  bus: InMemoryServerEventBus,
): McpHttpHandler {
  return createMcpHandler(({ authInfo }) => protocolServer(options, callerOf(authInfo)), {
    legacy,
    bus,
    maxRequestBodySize: options.maxBodyBytes,
    onerror: options.onError,
  });
}
