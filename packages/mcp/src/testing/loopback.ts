/** For tests: an endpoint behind a real HTTP server, with official clients. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { McpCaller } from "../caller.ts";
import type { EndpointOptions, McpEndpoint } from "../endpoint.ts";
import { ScriptedCalls } from "./scripted-calls.ts";
import { World } from "./world.ts";

/** Both ways to begin: with `initialize`, and without. */
export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof REVISIONS)[number];

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

  /** A client that has connected; `changes` counts what it is told of lists. */
  async client(
    revision: Revision,
    { token = "", changes }: { readonly token?: string; readonly changes?: () => void } = {},
  ): Promise<Client> {
    const isModern = revision === "2026-07-28";
    const tools = changes && { autoRefresh: false, debounceMs: 0, onChanged: changes };
    const client = new Client(
      { name: "a-client", version: "1" },
      {
        versionNegotiation: { mode: isModern ? { pin: revision } : "legacy" },
        ...(tools && { listChanged: { tools } }),
      },
    );
    this.#clients.push(client);
    const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(this.url), {
      requestInit: { headers },
    });
    await client.connect(transport);
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
