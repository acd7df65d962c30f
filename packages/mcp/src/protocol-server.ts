import { EngineError, type ServiceEndpoint } from "@engine/contract";
import {
  type CallToolRequest,
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { callEnds } from "./call-ends.ts";
import { type CallContext, type CheckOutput, callTool, type WaitLimits } from "./call-tool.ts";
import { callerOf, type McpCaller } from "./caller.ts";
import { instructions } from "./instructions.ts";
import type { ProgressNote, SetTimer } from "./progress.ts";
import { refusalResult } from "./results.ts";
import type { ServiceCalls } from "./service-calls.ts";
import type { ToolArguments } from "./tool-arguments.ts";
import { type EndpointTool, listedTool, shownTools, toolsOf } from "./tools.ts";

/** What the protocol says of a service, and what its calls need. */
export interface ProtocolOptions {
  /** Name of the service. */
  readonly service: string;
  /** The service's description at the moment. */
  readonly describe: () => string | null;
  /** Version of the engine. */
  readonly version: string;
  readonly limits: WaitLimits;
  /** Milliseconds for which clients may keep a list (MCP-19). */
  readonly listTtlMs: number;
  readonly checkOutput: CheckOutput;
  /** Milliseconds, from any beginning. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
  /** Told of requests that were no valid messages, and of what broke on the way; never of refusals. */
  readonly onError: (error: unknown) => void;
  /** Told of calls that failed for no reason of the caller's or of the engine's. */
  readonly onDefect: (error: unknown) => void;
}

/** Revisions that begin with `initialize`, the one that is offered first; 2026-07-28 comes by another way (MCP-14). */
const INITIALIZED_REVISIONS = ["2025-11-25", "2025-06-18"];
/** A list that the engine refused (MCP-19). */
const LIST_REFUSED = -32_000;

/**
 * A server of the SDK for one service: it knows no tools itself, but lists and calls those of the
 * caller of each request, so there is nothing in it that could be out of date (MCP-18).
 *
 * @param caller Whoever begins: a list of the revision 2026-07-28 says for whom it may be kept.
 * @param onCancelled Told when the client cancelled a request, which then gets no answer.
 */
export function protocolServer(
  options: ProtocolOptions,
  caller: McpCaller,
  onCancelled: (request: RequestId) => void = () => {},
): Server {
  const { service, version, describe, listTtlMs } = options;
  // The SDK's class for tools would check arguments by itself (MCP-5), and has to be told of each tool.
  const server = new Server(
    { name: `engine-service-${service}`, version },
    {
      capabilities: { tools: { listChanged: true } },
      instructions: instructions(describe()),
      supportedProtocolVersions: INITIALIZED_REVISIONS,
      cacheHints: {
        "tools/list": { ttlMs: listTtlMs, cacheScope: caller.hasToken ? "private" : "public" },
      },
    },
  );
  server.onerror = options.onError;
  server.setRequestHandler("tools/list", (_, context) => listTools(context));
  server.setRequestHandler("tools/call", async (request, context) => {
    const ends = callEnds(context);
    const result = await new ToolRequest(request, context, options).answer(ends);
    if (ends.cancelled.aborted) onCancelled(context.mcpReq.id);
    return result;
  });
  return server;
}

async function listTools({ http }: ServerContext): Promise<ListToolsResult> {
  const tools = await listed(callerOf(http?.authInfo).calls);
  return { tools: shownTools(tools).map(listedTool) };
}

class ToolRequest {
  readonly #params: CallToolRequest["params"];
  readonly #context: ServerContext;
  readonly #options: ProtocolOptions;
  readonly #calls: ServiceCalls;

  constructor({ params }: CallToolRequest, context: ServerContext, options: ProtocolOptions) {
    this.#params = params;
    this.#context = context;
    this.#options = options;
    this.#calls = callerOf(context.http?.authInfo).calls;
  }

  async answer(ends: Pick<CallContext, "left" | "cancelled">): Promise<CallToolResult> {
    // Also a tool that the caller is not shown: what the caller may do the engine knows best.
    const tool = (await this.#find()) ?? (await this.#find({ fresh: true }));
    if (!tool) throw unknownTool();
    try {
      return await callTool(this.#asked(tool), { ...this.#callContext(), ...ends });
    } catch (error) {
      return this.#refused(error);
    }
  }

  async #find(options?: { readonly fresh?: boolean }): Promise<EndpointTool | undefined> {
    const tools = await listed(this.#calls, options);
    return tools.find(({ name }) => name === this.#params.name);
  }

  #asked(tool: EndpointTool) {
    // JSON, and so are its arguments, which the SDK types as unknown.
    const given = (this.#params.arguments ?? {}) as ToolArguments;
    const { _meta: meta } = this.#context.mcpReq;
    return { tool, arguments: given, idempotency_key: meta?.["engine/idempotency_key"] };
  }

  #callContext(): Omit<CallContext, "left" | "cancelled"> {
    const { limits, checkOutput, clock, setTimer } = this.#options;
    const { _meta: meta, notify } = this.#context.mcpReq;
    const token = meta?.progressToken;
    const progress = token !== undefined && {
      token,
      send: (params: ProgressNote) => {
        // Fails when the caller has gone, of which the call learns by itself.
        notify({ method: "notifications/progress", params: { ...params } }).catch(() => {});
      },
    };
    return {
      calls: this.#calls,
      limits,
      checkOutput,
      clock,
      setTimer,
      ...(progress && { progress }),
    };
  }

  /** Failures are results (MCP-9), also defects: a model can at least tell of them. */
  async #refused(error: unknown): Promise<CallToolResult> {
    if (!(error instanceof EngineError)) {
      this.#options.onDefect(error);
      return refusalResult({ code: "internal", message: "the call failed by a defect" });
    }
    // The endpoint has gone since it was listed (MCP-18).
    const gone = ["service", "workflow"].includes(String(error.details?.["resource"]));
    if (error.code === "not_found" && gone && !(await this.#find({ fresh: true }))) {
      throw unknownTool();
    }
    return refusalResult(error);
  }
}

/** It does not say which: what came may be of any length, and nobody has looked through it (RED-3). */
function unknownTool(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, "there is no tool of that name");
}

const toolsByList = new WeakMap<readonly ServiceEndpoint[], readonly EndpointTool[]>();

/** The tools of a list, made once for as long as the same list is answered. */
async function listed(
  calls: ServiceCalls,
  options?: { readonly fresh?: boolean },
): Promise<readonly EndpointTool[]> {
  const { endpoints } = await calls.list(options).catch(refusedList);
  const tools = toolsByList.get(endpoints) ?? toolsOf(endpoints);
  toolsByList.set(endpoints, tools);
  return tools;
}

function refusedList(error: unknown): never {
  if (!(error instanceof EngineError)) throw error;
  throw new ProtocolError(LIST_REFUSED, error.message, error.toBody().error);
}
