/** For tests: an endpoint behind a real HTTP server, with official clients. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Client } from "@modelcontextprotocol/client";
import type { McpCaller } from "../caller.ts";
import type { EndpointOptions, McpEndpoint } from "../endpoint.ts";
import { type ClientWishes, connectClient, type Revision } from "./connect-client.ts";
import { ScriptedCalls } from "./scripted-calls.ts";
import { World } from "./world.ts";

export class Loopback {
  readonly world: World = new World();
  readonly errors: unknown[] = [];
  /** What each token's requests are answered by; "" is for those without one. */
  readonly callers: Map<string, ScriptedCalls> = new Map([["", new ScriptedCalls()]]);
  description: string | null = "Sells things.";
  /** Whether bodies are read before the endpoint sees them. */
  readsBodies = false;
  #endpoint: McpEndpoint | undefined;
  readonly #server = createServer();
  readonly #clients: Client[] = [];

  /** Serves what `make` makes until the test is over. */
  static async serve(make: (options: EndpointOptions) => McpEndpoint): Promise<Loopback> {
    const loopback = new Loopback();
    const { world, errors } = loopback;
    loopback.#endpoint = make({
      service: "shop",
      describe: () => loopback.description,
      version: "1.2.3",
      limits: { mcp_sync_timeout: 50, sync_timeout: 300 },
      listTtlMs: 1000,
      maxBodyBytes: 10_000,
      checkOutput: () => [],
      clock: world.clock,
      setTimer: world.setTimer,
      onError: (error) => errors.push(error),
      onDefect: (error) => errors.push(error),
    });
    loopback.#server.on("request", (request, response) => {
      void loopback.#answer(request, response);
    });
    loopback.#server.listen(0, "127.0.0.1");
    await once(loopback.#server, "listening");
    return loopback;
  }

  get endpoint(): McpEndpoint {
    if (!this.#endpoint) throw new Error("nothing is served");
    return this.#endpoint;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/mcp`;
  }

  /** The engine of requests without a token. */
  get calls(): ScriptedCalls {
    return this.callsOf("");
  }

  callsOf(token: string): ScriptedCalls {
    const calls = this.callers.get(token);
    if (!calls) throw new Error(`nobody has the token ${token}`);
    return calls;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const isRead = this.readsBodies && request.method === "POST";
    const body = isRead ? await json(request) : undefined;
    await this.endpoint.handle(request, response, this.#caller(token), body);
  }

  #caller(token: string): McpCaller {
    const owner = token === "" ? undefined : token;
    return { calls: this.callsOf(token), hasToken: token !== "", owner };
  }

  /** A client that has connected, closed when the test is over. */
  async client(revision: Revision, wishes: ClientWishes = {}): Promise<Client> {
    const { token = "", changes } = wishes;
    const given = token === "" ? { changes } : { token, changes };
    const client = await connectClient(this.url, revision, given);
    this.#clients.push(client);
    return client;
  }

  /** One message without a client. */
  post(message: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(this.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...Object(message) }),
    });
  }

  /** Opens a session by hand; the answered id is that of the header. */
  async initialize(headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const response = await this.post(INITIALIZE, headers);
    await response.text();
    return response.headers.get("mcp-session-id") ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.endpoint.close();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

export const INITIALIZE = {
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "by hand", version: "1" },
  },
};
