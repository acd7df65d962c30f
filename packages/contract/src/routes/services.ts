import * as z from "zod";
import { ErrorBody } from "../errors/errors.ts";
import {
  NewService,
  ResolvedService,
  ResourceMetadata,
  ServiceChanges,
  ServiceRecord,
  ServiceRun,
  ServiceTools,
} from "../services/service.ts";
import { AnyJson } from "../values/any-json.ts";
import { filteredListOf, paging, QueryFlag } from "../wire/list.ts";
import { all, any, grant, open, own, run, scoped } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";
import { TaskProgress } from "../workers/progress.ts";
import {
  aimed,
  FollowHeaders,
  RunHeaders,
  RunMode,
  RunQuery,
  RunVersion,
  Waiting,
} from "./execution-queries.ts";

const read = grant("service:{name}:read");
const manage = grant("service:{name}:manage");
const runOf = run("{ns}/{workflow}");
const follow = any(
  grant("workflow:{ns}:{workflow}:read"),
  all(grant("workflow:{ns}:{workflow}:run"), own),
);

/** What a run or resume through a service may ask for (SVC-38). */
const manner = {
  detailed: QueryFlag.optional().describe(
    "`true`: the answer to a completed run is the detailed form, not the output alone",
  ),
  timeout: Waiting.timeout,
  cancel_on_disconnect: RunQuery.shape.cancel_on_disconnect,
};
const ServiceRunQuery = z.strictObject({ ...manner, version: RunVersion });
const ServiceResumeQuery = z.strictObject(manner);

/** The output as it is, unless the detailed form is asked for (SVC-45). */
const Completed = z.union([AnyJson, ServiceRun]);
const answers = { 200: Completed, 202: ServiceRun, 409: ServiceRun, 500: ServiceRun } as const;
const frames = {
  "{workflow}.execution.{state}": ServiceRun,
  "task.progress": TaskProgress,
  error: ErrorBody.shape.error,
} as const;

const MODES =
  "`mode` is `sync` (answers when it has ended or paused), `async` (answers at once) or `stream` (frames until then).";

const start = {
  method: "POST",
  permission: aimed(runOf),
  effect: "write",
  query: ServiceRunQuery,
  headers: RunHeaders,
  body: AnyJson,
  bodyLimit: "value",
  answers,
} as const;
const resume = {
  method: "POST",
  permission: runOf,
  effect: "write",
  query: ServiceResumeQuery,
  body: AnyJson,
  bodyLimit: "value",
  answers,
} as const;

/** Services: what they are, and the endpoints that they offer (`spec/services.md`). */
export const serviceRoutes = {
  create: {
    method: "POST",
    path: "/services",
    summary:
      "Makes a service of workflows: all of some namespaces, some one by one, without those that are excluded.",
    permission: manage,
    effect: "write",
    body: NewService,
    answers: { 201: ServiceRecord },
  },
  list: {
    method: "GET",
    path: "/services",
    summary: "Lists services by name.",
    permission: scoped("service:{name}:read"),
    effect: "read",
    query: z.strictObject(paging(500, 100)),
    answers: { 200: filteredListOf(ServiceRecord) },
  },
  get: {
    method: "GET",
    path: "/services/{name}",
    summary:
      "Reads a service with what it offers now: its endpoints, names that collide, entries that match nothing.",
    permission: read,
    effect: "read",
    headers: z.object({
      "if-none-match": z
        .string()
        .optional()
        .describe("`ETag` of an answer: where nothing has changed since, the answer is 304"),
    }),
    answers: {
      200: ResolvedService,
      304: { raw: null, meaning: "nothing has changed since the answer with this `ETag`" },
    },
  },
  openapi: {
    method: "GET",
    path: "/services/{name}/openapi.json",
    summary:
      "What a service offers as an OpenAPI 3.1 document, with the schemas of its workflows. Those that the caller may neither read nor run are left out.",
    permission: read,
    effect: "read",
    answers: { 200: z.record(z.string(), AnyJson) },
  },
  tools: {
    method: "GET",
    path: "/services/{name}/mcp/tools",
    summary:
      "Lists the tools of a service that offers them (`mcp_enabled`): five for each endpoint that the caller may run.",
    permission: read,
    effect: "read",
    answers: { 200: ServiceTools },
  },
  mcp: {
    method: "POST",
    path: "/services/{service}/mcp",
    summary:
      "Speaks the Model Context Protocol (Streamable HTTP, without sessions) for clients that call the workflows of a service as tools. Each call needs what its route of the service needs.",
    permission: grant("service:{service}:read"),
    effect: "write",
    bodyLimit: "quoted_value",
    answers: { 202: { raw: null, meaning: "a notification was taken" } },
    speaks: ["application/json", "text/event-stream"],
  },
  metadata: {
    method: "GET",
    path: "/.well-known/oauth-protected-resource/services/{service}/mcp",
    summary:
      "Says where clients of a service's MCP endpoint get their tokens (RFC 9728); 404 without an OpenID provider.",
    permission: open,
    effect: "read",
    answers: { 200: ResourceMetadata },
  },
  update: {
    method: "PUT",
    path: "/services/{name}",
    summary: "Changes a service: first adds, then removes. What is left out stays.",
    permission: manage,
    effect: "write",
    body: ServiceChanges,
    answers: { 200: ServiceRecord },
  },
  delete: {
    method: "DELETE",
    path: "/services/{name}",
    summary: "Deletes a service; its executions stay and go on.",
    permission: manage,
    effect: "write",
    answers: { 204: { raw: null, meaning: "the service is deleted" } },
  },
  run: {
    ...start,
    path: "/services/{service}/{workflow}",
    summary:
      "Runs a workflow of a service and answers its output; the body is its input. One that pauses, or takes too long, is answered with an address to go on from.",
  },
  runMode: {
    ...start,
    path: "/services/{service}/{workflow}/{mode}",
    params: { mode: RunMode },
    summary: `Runs a workflow of a service; the body is its input. ${MODES}`,
    frames,
  },
  resume: {
    ...resume,
    path: "/services/{service}/{workflow}/resume/{execution_id}",
    summary:
      "Answers an open pause and then as a run does; the body is what the `pause` call returns.",
  },
  resumeMode: {
    ...resume,
    path: "/services/{service}/{workflow}/resume/{execution_id}/{mode}",
    params: { mode: RunMode },
    summary: `Answers an open pause; the body is what the \`pause\` call returns. ${MODES}`,
    frames,
  },
  status: {
    method: "GET",
    path: "/services/{service}/{workflow}/status/{execution_id}",
    summary: "Reads an execution of a workflow of the service.",
    permission: follow,
    effect: "read",
    answers: { 200: ServiceRun },
  },
  stream: {
    method: "GET",
    path: "/services/{service}/{workflow}/stream/{execution_id}",
    summary: "Follows an execution of a workflow of the service to its end, through pauses.",
    permission: follow,
    effect: "read",
    headers: FollowHeaders,
    answers: { 200: { raw: "text/event-stream", meaning: "frames from the state now on" } },
    frames,
  },
} as const satisfies Record<string, Route>;
