import {
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { authInfoOf, type McpCaller } from "./caller.ts";
import type { EndpointOptions } from "./endpoint.ts";
import { protocolServer } from "./protocol-server.ts";

/** What a session asks of whoever keeps sessions. */
export interface SessionKeeper {
  readonly newId: () => string;
  readonly opened: (id: string, session: Session) => void;
  readonly closed: (id: string, session: Session) => void;
}

/** A session of the 2025 revisions, from its `initialize` to its end (MCP-16). */
export class Session {
  /** Milliseconds of the options' clock; undefined while a request or a stream is open. */
  idleSince: number | undefined;
  readonly #owner: string | undefined;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #server: Server;
  readonly #options: EndpointOptions;
  #open = 0;
  #stopIdling: (() => void) | undefined;

  constructor(options: EndpointOptions, keeper: SessionKeeper, caller: McpCaller) {
    this.#options = options;
    this.#owner = caller.owner;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: keeper.newId,
      onsessioninitialized: (id) => keeper.opened(id, this),
      maxRequestBodySize: options.maxBodyBytes,
    });
    // A cancelled request gets no answer, for which its stream would wait for ever.
    const server = protocolServer(options, caller, (id) => transport.closeSSEStream(id));
    server.onclose = () => {
      this.#stopIdling?.();
      if (transport.sessionId !== undefined) keeper.closed(transport.sessionId, this);
    };
    this.#transport = transport;
    this.#server = server;
  }

  belongsTo({ owner }: McpCaller): boolean {
    return owner === this.#owner;
  }

  /** Whether an `initialize` has opened it. */
  get isOpen(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  /** Has to be done before the first request. */
  connect(): Promise<void> {
    return this.#server.connect(this.#transport);
  }

  answer(request: Request, caller: McpCaller, body: unknown): Promise<Response> {
    const authInfo = authInfoOf(caller);
    return this.#transport.handleRequest(request, {
      authInfo,
      ...(body !== undefined && { parsedBody: body }),
    });
  }

  /** A request has begun; the answered function says that its response is closed. */
  use(ttlMs: number): () => void {
    this.#open += 1;
    this.idleSince = undefined;
    this.#stopIdling?.();
    return () => {
      this.#open -= 1;
      if (this.#open > 0 || this.#server.transport === undefined) return;
      this.idleSince = this.#options.clock();
      this.#stopIdling = this.#options.setTimer(() => void this.close(), ttlMs);
    };
  }

  /** On the stream that the client opened for it; without one, nobody is told. */
  async tellToolsChanged(): Promise<void> {
    await this.#server.sendToolListChanged().catch(this.#options.onError);
  }

  async close(): Promise<void> {
    await this.#server.close().catch(this.#options.onError);
  }
}
