import type { InputIssue, Json, ServiceRun } from "@engine/contract";
import { type CallToolResult, type ContentBlock, isSpecType } from "@modelcontextprotocol/server";
import type { EndpointNames } from "./tool-names.ts";

/** A refusal as an error answer of the engine has it (NET-7), or one made where the engine was not reached. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** What a sync run or resume came to: its end, its pause, or where it was when the wait ended (MCP-9). */
export function runResult(run: ServiceRun, names: EndpointNames): CallToolResult {
  switch (run.state) {
    case "COMPLETED":
      return { content: outputContent(run.output), structuredContent: envelope(run) };
    case "PAUSED":
      return answer(run, pauseText(run, names));
    case "FAILED":
    case "CANCELLED":
      return { ...answer(run, run.error.message), isError: true };
    default:
      return acceptedResult(run, names);
  }
}

/** An execution that nobody waits for: one started async, or one whose wait has reached its time (MCP-9). */
export function acceptedResult(run: ServiceRun, names: EndpointNames): CallToolResult {
  const { execution_id, state } = run;
  const next = `To see how it goes on, call \`${names.status}\` with this execution id.`;
  return answer(run, `Execution ${execution_id} is ${state}. ${next}`);
}

/** What a status tool answers; also of an execution that failed, since reading it did not (MCP-9). */
export function statusResult(run: ServiceRun, names: EndpointNames): CallToolResult {
  if (run.state === "PAUSED") return answer(run, `PAUSED. ${pauseText(run, names)}`);
  if (run.state === "FAILED" || run.state === "CANCELLED") {
    return answer(run, `${run.state}: ${run.error.message}`);
  }
  if (run.state !== "COMPLETED") return answer(run, run.state);
  const blocks = contentBlocks(run.output);
  if (!blocks) return answer(run, `COMPLETED: ${outputText(run.output)}`);
  return { content: [text("COMPLETED"), ...blocks], structuredContent: envelope(run) };
}

/** A call that the engine refused, or that did not reach it: nothing of it went on (MCP-9). */
export function refusalResult(error: Refusal, execution_id?: string): CallToolResult {
  const { code, message, details } = error;
  const lines = [`${code}: ${message}`, ...detailLines(details)];
  const told = { code, message, ...(details && { details }) };
  return {
    content: [text(lines.join("\n"))],
    structuredContent: { ...(execution_id !== undefined && { execution_id }), error: told },
    isError: true,
  };
}

/** A completed execution whose output is not what its workflow declares (MCP-10). */
export function violationResult(run: ServiceRun, issues: readonly InputIssue[]): CallToolResult {
  const first = `Execution ${run.execution_id} is COMPLETED, but its output does not fit the workflow's output schema:`;
  return { ...answer(run, [first, ...issues.map(issueLine)].join("\n")), isError: true };
}

function answer(run: ServiceRun, shown: string): CallToolResult {
  return { content: [text(shown)], structuredContent: envelope(run) };
}

function text(shown: string): ContentBlock {
  return { type: "text", text: shown };
}

function envelope(run: ServiceRun): Record<string, unknown> {
  const { execution_id, state, output } = run;
  const base = { execution_id, state, output };
  if (run.state === "PAUSED") return { ...base, pause: run.pause };
  return "error" in run ? { ...base, error: run.error } : base;
}

function pauseText(
  { execution_id, pause }: Extract<ServiceRun, { state: "PAUSED" }>,
  names: EndpointNames,
): string {
  const value = pause.value === null ? "" : `: ${outputText(pause.value)}`;
  const at = `Paused at "${pause.name}"${value}`;
  // Who decides is not asked by a tool.
  if (pause.kind === "approval") return `${at}\nExecution ${execution_id} waits for a decision.`;
  return `${at}\nTo go on, call \`${names.resume}\` with execution_id "${execution_id}".`;
}

function outputContent(output: Json): ContentBlock[] {
  return contentBlocks(output) ?? [text(outputText(output))];
}

function outputText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The blocks that an output consists of, where it is `{"mcp_content": [...]}` and nothing else. */
function contentBlocks(output: Json): ContentBlock[] | undefined {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return undefined;
  const blocks = output["mcp_content"];
  if (!Array.isArray(blocks) || Object.keys(output).length > 1) return undefined;
  return blocks.every(isSpecType.ContentBlock) ? (blocks as unknown as ContentBlock[]) : undefined;
}

function detailLines(details: Refusal["details"]): string[] {
  const { issues, missing_permissions: missing } = details ?? {};
  const listed = Array.isArray(issues) ? issues.map(issueLine) : [];
  if (!Array.isArray(missing) || missing.length === 0) return listed;
  return [...listed, `missing permissions: ${missing.join(", ")}`];
}

function issueLine({ path, message }: InputIssue): string {
  return `- ${path}: ${message}`;
}
