import type { ServiceEndpoint, ServiceTool, ToolKind } from "@engine/contract";
import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import type { JsonSchema } from "./schema-references.ts";
import { byName, type EndpointNames, endpointNames, TOOL_KINDS } from "./tool-names.ts";
import {
  envelopeSchema,
  RESUME_INPUT_SCHEMA,
  runInputSchema,
  STATUS_INPUT_SCHEMA,
} from "./tool-schemas.ts";

/** A tool with the endpoint it calls, and what that endpoint's other tools are called; see {@link endpointNames}. */
export interface EndpointTool extends ServiceTool {
  readonly endpoint: ServiceEndpoint;
  readonly names: EndpointNames;
}

/**
 * The tools of a service: five per endpoint, endpoints by name (MCP-1).
 *
 * @param endpoints The full list of a resolved service: names depend on all of them (MCP-2).
 */
export function toolsOf(endpoints: readonly ServiceEndpoint[]): readonly EndpointTool[] {
  const names = endpointNames(endpoints);
  return [...endpoints].sort(byName).flatMap((endpoint) => {
    const own = names.get(endpoint.ref);
    return own ? endpointTools(endpoint, own) : [];
  });
}

/** Those of {@link toolsOf} that a caller is shown: what the caller may run (MCP-2). */
export function shownTools(tools: readonly EndpointTool[]): readonly EndpointTool[] {
  return tools.filter(({ endpoint }) => endpoint.can_run);
}

/** A tool without what only calls need, as {@link ServiceTool} has it. */
export function serviceTool(tool: EndpointTool): ServiceTool {
  const { name, description, kind, ref, input_schema, output_schema } = tool;
  return { name, description, kind, ref, input_schema, output_schema };
}

/** A tool as clients list it (MCP-4). */
export function listedTool(tool: EndpointTool): Tool {
  const { name, description, kind, ref } = tool;
  return {
    name,
    description,
    // Both say `type: "object"`, which their type here does not.
    inputSchema: tool.input_schema as Tool["inputSchema"],
    outputSchema: tool.output_schema as NonNullable<Tool["outputSchema"]>,
    ...(kind === "status" && { annotations: READS }),
    _meta: { "engine/ref": ref, "engine/kind": kind },
  };
}

const READS: ToolAnnotations = { readOnlyHint: true, idempotentHint: true };

function endpointTools(endpoint: ServiceEndpoint, names: EndpointNames): EndpointTool[] {
  const { ref, output_schema } = endpoint;
  const runInput = runInputSchema(endpoint.input_schema);
  const inputs: Readonly<Record<ToolKind, JsonSchema>> = {
    run: runInput,
    async: runInput,
    resume: RESUME_INPUT_SCHEMA,
    resume_async: RESUME_INPUT_SCHEMA,
    status: STATUS_INPUT_SCHEMA,
  };
  const output = envelopeSchema(output_schema);
  const texts = descriptions(endpoint, names);
  return TOOL_KINDS.map((kind) => ({
    name: names[kind],
    description: texts[kind],
    kind,
    ref,
    input_schema: inputs[kind],
    output_schema: output,
    endpoint,
    names,
  }));
}

function descriptions(
  { ref, description }: ServiceEndpoint,
  names: EndpointNames,
): Readonly<Record<ToolKind, string>> {
  const about = description?.trim() ? `${description.trim()}\n\n` : "";
  const from = `The id is in the answers of \`${names.run}\` and \`${names.async}\`.`;
  const later = `then call \`${names.status}\` with the execution id.`;
  return {
    run: `${about}Runs workflow ${ref} and waits for its output. Should it pause, call \`${names.resume}\`; should it take too long, the answer is an execution id: ${later}`,
    async: `${about}Starts workflow ${ref} and answers its execution id at once; ${later}`,
    resume: `Answers the open pause of an execution of workflow ${ref} and waits for its output. ${from}`,
    resume_async: `Answers the open pause of an execution of workflow ${ref} and does not wait; ${later} ${from}`,
    status: `Reads the state of an execution of workflow ${ref}, with its output, its open pause or its error. ${from}`,
  };
}
