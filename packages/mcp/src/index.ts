/** What a process needs to offer a service's endpoints as MCP tools; every line here is public. */
export type { CheckOutput, WaitLimits } from "./call-tool.ts";
export type { McpCaller } from "./caller.ts";
export type { EndpointOptions, McpEndpoint } from "./endpoint.ts";
export type { SetTimer } from "./progress.ts";
export type { ProtocolOptions } from "./protocol-server.ts";
export { type ReadService, readService } from "./read-service.ts";
export { type JsonSchema, placeSchema } from "./schema-references.ts";
export type {
  AskedExecution,
  AskedResume,
  AskedRun,
  ListedService,
  RunFrame,
  ServiceCalls,
} from "./service-calls.ts";
export { serviceRequests } from "./service-requests.ts";
export { SessionEndpoint, type SessionEndpointOptions } from "./session-endpoint.ts";
export { createStatelessEndpoint } from "./stateless-endpoint.ts";
export { type EndpointNames, endpointNames, type NamedEndpoint } from "./tool-names.ts";
export { type EndpointTool, serviceTool, shownTools, toolsOf } from "./tools.ts";
