import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceEndpoint } from "@engine/contract";
import {
  type NodeIncomingMessageLike,
  type NodeServerResponseLike,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import type { McpCaller } from "./caller.ts";
import type { ProtocolOptions } from "./protocol-server.ts";

/** What an endpoint needs, beside what its protocol says. */
export interface EndpointOptions extends ProtocolOptions {
  /** Bytes that a message may have. */
  readonly maxBodyBytes: number;
}

/** What is read of a request: one of Node, or what a process that has read its body hands on. */
export interface McpRequest
  extends Pick<IncomingMessage, "method" | "url" | "headers">,
    AsyncIterable<unknown> {}

/** The MCP endpoint of one service (MCP-14). */
export interface McpEndpoint {
  /**
   * Answers one HTTP request, which the process has authenticated; origins and paths are its matter,
   * too. Resolves when the answer has been written or its reader has gone, and never rejects.
   *
   * @param body What the process has read of the request, parsed; left out, it is read here.
   */
  handle(
    request: McpRequest,
    response: ServerResponse,
    caller: McpCaller,
    body?: unknown,
  ): Promise<void>;
  /**
   * Takes the endpoints of the service as they are now, always those of one viewer, and tells all who
   * listen where the tools have changed (MCP-18). The first list is what later ones are compared with.
   */
  update(endpoints: readonly ServiceEndpoint[]): void;
  /** Sessions and open subscriptions: while there are any, somebody wants to be told of changes. */
  readonly listeners: number;
  /** Ends sessions, subscriptions and calls for good; executions go on (MCP-20). */
  close(): Promise<void>;
}

/** Answers a request of Node with what answers one of the web. */
export async function answerNode(
  request: McpRequest,
  response: ServerResponse,
  options: { readonly body: unknown; readonly endpoint: EndpointOptions },
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const { maxBodyBytes: maxRequestBodySize, onError: onerror } = options.endpoint;
  const handler = toNodeHandler({ fetch: answer }, { maxRequestBodySize, onerror });
  try {
    // Its `method` may be undefined, which the type of the SDK forgets.
    await handler(request as NodeIncomingMessageLike, withHeadersAtOnce(response), options.body);
  } catch (error) {
    // Such as a request that broke off while it was read.
    onerror(error);
    response.destroy();
  }
}

/** Node keeps headers back until there is a body, for which readers of a stream may wait long. */
function withHeadersAtOnce(response: ServerResponse): NodeServerResponseLike {
  return {
    writeHead(status, headers) {
      response.writeHead(status, headers);
      response.flushHeaders();
    },
    write: (chunk) => response.write(chunk),
    end: (chunk) => response.end(chunk),
    on: (event, listener) => response.on(event, listener),
    get destroyed() {
      return response.destroyed;
    },
  };
}
