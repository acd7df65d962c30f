import {
  EngineError,
  type InputIssue,
  invalidField,
  type Json,
  type ServiceEndpoint,
  type ServiceRun,
} from "@engine/contract";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { followRun, type Waiter } from "./followed-run.ts";
import { acceptedResult, statusResult, violationResult } from "./results.ts";
import type { JsonSchema } from "./schema-references.ts";
import type { AskedResume, AskedRun } from "./service-calls.ts";
import { executionOf, inputOf, type ToolArguments } from "./tool-arguments.ts";
import type { EndpointTool } from "./tools.ts";

/** A tool call as it came. */
export interface AskedTool {
  readonly tool: EndpointTool;
  readonly arguments: ToolArguments;
  /** `_meta["engine/idempotency_key"]`, which counts on a run (MCP-8). */
  readonly idempotency_key: unknown;
}

/**
 * What of an output does not fit a schema, by the engine's own validator, paths beginning with
 * `output`; this package has none (MCP-5, MCP-10).
 */
export type CheckOutput = (
  schema: JsonSchema,
  output: Json,
) => readonly InputIssue[] | Promise<readonly InputIssue[]>;

/** Seconds for which a sync run or resume is waited for (MCP-11). */
export interface WaitLimits {
  /** `[engine.services] mcp_sync_timeout`: under what most clients wait. */
  readonly mcp_sync_timeout: number;
  /** `[engine.executions] sync_timeout`, for callers who are told of progress; 0: as long as it takes. */
  readonly sync_timeout: number;
}

/** Who calls, with what the call needs of the world around it. */
export interface CallContext extends Omit<Waiter, "names" | "timeout"> {
  readonly limits: WaitLimits;
  readonly checkOutput: CheckOutput;
}

/**
 * Calls a tool: makes the request of its kind, and tells what came of it (MCP-8, MCP-9).
 *
 * @throws EngineError for what the engine or the reading of arguments refused.
 */
export async function callTool(asked: AskedTool, context: CallContext): Promise<CallToolResult> {
  const { tool } = asked;
  const { endpoint, names } = tool;
  const { calls } = context;
  switch (tool.kind) {
    case "run":
      return follow(await runOf(asked, calls), tool, context);
    case "resume":
      return follow(resumeOf(asked), tool, context);
    case "async": {
      const run = await calls.run(await runOf(asked, calls));
      return checked(run, acceptedResult(run, names), tool, context);
    }
    case "resume_async": {
      const run = await calls.resume(resumeOf(asked));
      return checked(run, acceptedResult(run, names), tool, context);
    }
    case "status": {
      const { execution_id } = executionOf(asked.arguments, false);
      const run = await calls.status({ endpoint, execution_id });
      return checked(run, statusResult(run, names), tool, context);
    }
  }
}

async function follow(
  asked: AskedRun | AskedResume,
  tool: EndpointTool,
  context: CallContext,
): Promise<CallToolResult> {
  const { mcp_sync_timeout, sync_timeout } = context.limits;
  const timeout = context.progress ? sync_timeout : mcp_sync_timeout;
  const { result, run } = await followRun(asked, { ...context, names: tool.names, timeout });
  return run ? checked(run, result, tool, context) : result;
}

/** What arrives in a header as it was sent. */
const HEADER = /^[!-~](?:[ -~]{0,1022}[!-~])?$/;

async function runOf(
  { tool, arguments: given, idempotency_key: key }: AskedTool,
  calls: CallContext["calls"],
): Promise<AskedRun> {
  const { endpoint } = tool;
  const asked = { kind: "run", endpoint, input: await inputFor(endpoint, given, calls) } as const;
  if (key === undefined) return asked;
  if (typeof key !== "string" || !HEADER.test(key)) {
    throw invalidField(
      "_meta.engine/idempotency_key",
      "expected 1 to 1024 printable ASCII characters",
    );
  }
  return { ...asked, idempotency_key: key };
}

async function inputFor(
  endpoint: ServiceEndpoint,
  given: ToolArguments,
  calls: CallContext["calls"],
): Promise<Json> {
  try {
    return inputOf(given, endpoint.input_schema);
  } catch (error) {
    if (!endpoint.can_run) await refuseAsEngine(endpoint, calls);
    throw error;
  }
}

/**
 * Who may not run a workflow may not know its schema either: arguments are not what is wrong. What is
 * missing is told by the engine, of a resume too before whether there is such an execution (SVC-39).
 */
async function refuseAsEngine(
  endpoint: ServiceEndpoint,
  calls: CallContext["calls"],
): Promise<void> {
  const asked = { kind: "resume", endpoint, execution_id: "none", input: null } as const;
  try {
    await calls.resume(asked);
  } catch (error) {
    if (error instanceof EngineError && error.code === "permission_denied") throw error;
  }
}

function resumeOf({ tool, arguments: given }: AskedTool): AskedResume {
  return { kind: "resume", endpoint: tool.endpoint, ...executionOf(given, true) };
}

/** Clients refuse a result that is not what the tool declares, and say so less well (MCP-10). */
async function checked(
  run: ServiceRun,
  result: CallToolResult,
  { endpoint }: EndpointTool,
  { checkOutput }: CallContext,
): Promise<CallToolResult> {
  const schema = endpoint.output_schema;
  if (run.state !== "COMPLETED" || !schema) return result;
  const issues = await checkOutput(schema, run.output);
  return issues.length > 0 ? violationResult(run, issues) : result;
}
