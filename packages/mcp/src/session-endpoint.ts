import type { ServerResponse } from "node:http";
import type { ServiceEndpoint } from "@engine/contract";
import {
  InMemoryServerEventBus,
  isLegacyRequest,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import { authInfoOf, type McpCaller } from "./caller.ts";
import { answerNode, type EndpointOptions, type McpEndpoint, type McpRequest } from "./endpoint.ts";
import { Session, type SessionKeeper } from "./session.ts";
import { sdkHandler } from "./stateless-endpoint.ts";
import { ToolChanges } from "./tool-changes.ts";

export interface SessionEndpointOptions extends EndpointOptions {
  /** `--mcp-max-sessions`: above it the longest idle goes. */
  readonly max_sessions: number;
  /** `--mcp-session-ttl`: seconds without a request or an open stream after which a session is dropped. */
  readonly session_ttl: number;
  /** Makes an id that nobody guesses, of visible ASCII. */
  readonly newSessionId: () => string;
}

/**
 * The endpoint of a gateway: it keeps sessions for the 2025 revisions (MCP-16), and answers those of
 * 2026-07-28 without.
 */
export class SessionEndpoint implements McpEndpoint {
  readonly #options: SessionEndpointOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #changes = new ToolChanges();
  readonly #bus: InMemoryServerEventBus;
  readonly #modern: McpHttpHandler;
  readonly #keeper: SessionKeeper;

  constructor(options: SessionEndpointOptions) {
    this.#options = options;
    this.#bus = new InMemoryServerEventBus(options.onError);
    this.#modern = sdkHandler(options, "reject", this.#bus);
    this.#keeper = {
      newId: options.newSessionId,
      opened: (id, session) => this.#opened(id, session),
      closed: (id) => this.#sessions.delete(id),
    };
  }

  handle(
    request: McpRequest,
    response: ServerResponse,
    caller: McpCaller,
    body?: unknown,
  ): Promise<void> {
    return answerNode(request, response, { body, endpoint: this.#options }, async (web) => {
      const maxRequestBodySize = this.#options.maxBodyBytes;
      if (!(await isLegacyRequest(web, body, { maxRequestBodySize }))) {
        const parsed = body !== undefined && { parsedBody: body };
        return this.#modern.fetch(web, { authInfo: authInfoOf(caller), ...parsed });
      }
      const id = web.headers.get("mcp-session-id");
      const session = id === null ? await this.#begin(caller) : this.#sessions.get(id);
      if (!session?.belongsTo(caller)) return sessionNotFound();
      const done = session.use(this.#options.session_ttl * 1000);
      if (response.destroyed) done();
      else response.once("close", done);
      const answer = await session.answer(web, caller, body);
      // Whatever was no `initialize` has been refused, and opened none.
      if (!session.isOpen) await session.close();
      return answer;
    });
  }

  update(endpoints: readonly ServiceEndpoint[]): void {
    if (!this.#changes.differ(endpoints)) return;
    this.#modern.notify.toolsChanged();
    for (const session of this.#sessions.values()) void session.tellToolsChanged();
  }

  get listeners(): number {
    return this.#sessions.size + this.#bus.listenerCount;
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    await Promise.all([this.#modern.close(), ...sessions.map((session) => session.close())]);
  }

  async #begin(caller: McpCaller): Promise<Session> {
    const session = new Session(this.#options, this.#keeper, caller);
    await session.connect();
    return session;
  }

  #opened(id: string, session: Session): void {
    this.#sessions.set(id, session);
    if (this.#sessions.size <= this.#options.max_sessions) return;
    void this.#longestIdle()?.close();
  }

  /** Where none is idle, the oldest. */
  #longestIdle(): Session | undefined {
    const since = ({ idleSince }: Session) => idleSince ?? Number.POSITIVE_INFINITY;
    const [first] = [...this.#sessions.values()].sort((a, b) => {
      return since(a) === since(b) ? 0 : since(a) - since(b);
    });
    return first;
  }
}

/** In the words of the SDK, for which an id of another and an unknown one are the same. */
function sessionNotFound(): Response {
  const error = { code: -32_001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}
