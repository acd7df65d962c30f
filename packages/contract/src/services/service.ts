import * as z from "zod";
import { ExecutionError, OpenPause } from "../executions/execution.ts";
import { AnyJson } from "../values/any-json.ts";
import { isName, NAME_RULE, parseWorkflowName } from "../values/name.ts";
import { storableText } from "../values/storable-text.ts";

/** Names of services, which are segments of addresses (SVC-1). */
export const SERVICE_NAME_PATTERN: RegExp = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** What {@link SERVICE_NAME_PATTERN} allows, in words for an error message. */
export const SERVICE_NAME_RULE =
  "1 to 64 small letters, digits, '_' or '-', beginning with a letter or a digit";

/** Most entries that each of a service's lists may have (SVC-2). */
export const MOST_SELECTORS = 1_000;

const ServiceName = z.string().regex(SERVICE_NAME_PATTERN, `must be ${SERVICE_NAME_RULE}`);
const Description = storableText(1_000);
const NamespaceName = z.string().refine(isName, `must be ${NAME_RULE}`);
/** `<namespace>/<name>`; a bare name is one of namespace `default`, and is kept qualified (SVC-2). */
const Reference = z.string().transform((given, context) => {
  const parsed = parseWorkflowName(given);
  if (parsed) return `${parsed.namespace}/${parsed.name}`;
  const message = `must be <namespace>/<name>, or a name alone for one of namespace default; each is ${NAME_RULE}`;
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});

/** Repeats count once, where they stand first. */
function distinct<Item extends z.ZodType<string>>(item: Item) {
  return z
    .array(item)
    .max(MOST_SELECTORS)
    .transform((items) => [...new Set(items)]);
}
const Namespaces = distinct(NamespaceName);
const References = distinct(Reference);

/** A named choice of workflows that are offered as endpoints (SVC-1). */
export const ServiceRecord = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** Every workflow of each is chosen. */
  namespaces: z.array(z.string()),
  /** Workflows chosen one by one, as `<namespace>/<name>`. */
  workflows: z.array(z.string()),
  /** Workflows that are left out whatever chooses them. */
  exclusions: z.array(z.string()),
  mcp_enabled: z.boolean(),
  created_at: z.string(),
  /** Moves only when a value changed. */
  updated_at: z.string(),
});
export type ServiceRecord = z.infer<typeof ServiceRecord>;

export const NewService = z.strictObject({
  name: ServiceName,
  description: Description.nullable().optional(),
  namespaces: Namespaces.default([]),
  workflows: References.default([]),
  exclusions: References.default([]),
  mcp_enabled: z.boolean().default(false),
});
export type NewService = z.infer<typeof NewService>;

/** What changes of a service: adds come first, then removes, so that what is in both goes (SVC-22). */
export const ServiceChanges = z.strictObject({
  add_namespaces: Namespaces.optional(),
  add_workflows: References.optional(),
  add_exclusions: References.optional(),
  remove_namespaces: Namespaces.optional(),
  remove_workflows: References.optional(),
  remove_exclusions: References.optional(),
  mcp_enabled: z.boolean().optional(),
  /** Null takes it away. */
  description: Description.nullable().optional(),
});
export type ServiceChanges = z.infer<typeof ServiceChanges>;

/** JSON Schema 2020-12. */
const Schema = z.record(z.string(), AnyJson).nullable();

/** A workflow as a service offers it (SVC-7). */
export const ServiceEndpoint = z.object({
  /** The workflow's name, and the segment of the path. */
  name: z.string(),
  /** On the server. */
  path: z.string(),
  /** `<namespace>/<name>`. */
  ref: z.string(),
  namespace: z.string(),
  /** The latest. */
  version: z.int().positive(),
  /** Null also for callers who may neither read nor run the workflow, like the schemas. */
  description: z.string().nullable(),
  input_schema: Schema,
  output_schema: Schema,
  /** Whether the caller may run it. */
  can_run: z.boolean(),
});
export type ServiceEndpoint = z.infer<typeof ServiceEndpoint>;

/** One name that workflows of several namespaces have: only requests for that name are refused (SVC-6). */
export const NameCollision = z.object({
  name: z.string(),
  /** Sorted. */
  refs: z.array(z.string()),
});
export type NameCollision = z.infer<typeof NameCollision>;

/** A service with what it offers now (SVC-23). */
export const ResolvedService = ServiceRecord.extend({
  /** By name, without colliding ones. */
  endpoints: z.array(ServiceEndpoint),
  /** By name. */
  collisions: z.array(NameCollision),
  /** Entries that match nothing now. */
  unmatched: z.object({
    namespaces: z.array(z.string()),
    workflows: z.array(z.string()),
    exclusions: z.array(z.string()),
  }),
});
export type ResolvedService = z.infer<typeof ResolvedService>;

/** What a tool of an endpoint does (MCP-1). */
export const ToolKind = z.enum(["run", "async", "resume", "resume_async", "status"]);
export type ToolKind = z.infer<typeof ToolKind>;

/** An endpoint as a tool of the Model Context Protocol; each yields one of every kind (MCP-3). */
export const ServiceTool = z.object({
  name: z.string(),
  description: z.string(),
  kind: ToolKind,
  /** Of the workflow, `<namespace>/<name>`. */
  ref: z.string(),
  input_schema: z.record(z.string(), AnyJson),
  output_schema: z.record(z.string(), AnyJson),
});
export type ServiceTool = z.infer<typeof ServiceTool>;

/** The tools of a service, and where clients of the protocol find them (MCP-3). */
export const ServiceTools = z.object({
  service: z.string(),
  mcp_enabled: z.literal(true),
  /** The server's own endpoint. */
  connection_url: z.string(),
  /** Of the endpoints that the caller may run. */
  tools: z.array(ServiceTool),
  tool_count: z.int().nonnegative(),
  collisions: z.array(NameCollision),
});
export type ServiceTools = z.infer<typeof ServiceTools>;

/** Where clients of a resource get their tokens (RFC 9728, MCA-3). */
export const ResourceMetadata = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()),
  bearer_methods_supported: z.array(z.string()),
  resource_name: z.string(),
});
export type ResourceMetadata = z.infer<typeof ResourceMetadata>;

const run = {
  execution_id: z.string(),
  namespace: z.string(),
  workflow: z.string(),
  /** Null for a local run, which only a status shows. */
  version: z.int().positive().nullable(),
  /** Null until COMPLETED. */
  output: AnyJson,
  /** Where it has not ended, and nobody waits for it any more. */
  status_url: z.string().optional(),
};

/**
 * An execution as callers of a service are told of it (SVC-44): with the output, and without what
 * belongs to operators.
 */
export const ServiceRun = z.discriminatedUnion("state", [
  z.object({ ...run, state: z.enum(["CREATED", "CLAIMED", "RUNNING", "RESUMING", "CANCELLING"]) }),
  z.object({ ...run, state: z.literal("PAUSED"), pause: OpenPause, resume_url: z.string() }),
  z.object({ ...run, state: z.literal("COMPLETED") }),
  z.object({ ...run, state: z.enum(["FAILED", "CANCELLED"]), error: ExecutionError }),
]);
export type ServiceRun = z.infer<typeof ServiceRun>;
