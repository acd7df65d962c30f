import * as z from "zod";
import {
  Name,
  Namespace,
  Registered,
  Registration,
  SourceFile,
  WorkflowRecord,
} from "../definitions/catalog.ts";
import { PlacementAnswer, PlacementQuestion } from "../routing/dry-run.ts";
import { filteredListOf, listOf, paging, QueryFlag } from "../wire/list.ts";
import { all, grant, run, scoped } from "../wire/permission.ts";
import { wholeNumber } from "../wire/query-number.ts";
import type { Route } from "../wire/route.ts";

const read = grant("workflow:{ns}:{wf}:read");
/**
 * `secret` for each that the source declares (SEC-7), `schedule` for each that it makes or changes
 * (EXE-76), `hook` for all that it makes or changes at once, as `*` (HOOK-50); the last for both.
 */
const registering = all(
  grant("workflow:{ns}:*:register"),
  grant("secret:{secret}:use"),
  grant("schedule:{schedule}:manage"),
  grant("hook:{hook}:create"),
  grant("principal:{run_as}:impersonate"),
);
const SourceQuery = z.strictObject({
  source: QueryFlag.optional().describe("adds the source files"),
});
const WithSource = WorkflowRecord.extend({ files: z.array(SourceFile).optional() });

export const catalogRoutes = {
  register: {
    method: "POST",
    path: "/workflows",
    summary: "Registers the workflows of one file; equal content creates nothing.",
    permission: registering,
    effect: "write",
    query: z.strictObject({
      dry_run: QueryFlag.optional().describe(
        "checks and answers what it would make; saves nothing",
      ),
    }),
    body: Registration,
    bodyLimit: 8 * 1024 * 1024,
    answers: { 200: Registered, 201: Registered },
  },
  list: {
    method: "GET",
    path: "/workflows",
    summary: "Lists the latest version of each workflow.",
    permission: scoped("workflow:{ns}:{wf}:read"),
    effect: "read",
    query: z.strictObject({
      namespace: Name.optional().describe("only of this namespace"),
      name: z.string().optional().describe("only names that begin like this"),
      ...paging(1000, 200),
    }),
    answers: { 200: filteredListOf(WorkflowRecord) },
  },
  namespaces: {
    method: "GET",
    path: "/namespaces",
    summary: "Lists namespaces that hold a workflow.",
    permission: scoped("workflow:{ns}:{wf}:read"),
    effect: "read",
    query: z.strictObject(paging(1000, 200)),
    answers: { 200: filteredListOf(Namespace) },
  },
  get: {
    method: "GET",
    path: "/workflows/{ns}/{wf}",
    summary: "Reads the latest version of a workflow.",
    permission: read,
    effect: "read",
    query: SourceQuery,
    answers: { 200: WithSource },
  },
  placement: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/placement",
    summary:
      "Says which workers a start with this input could be given now, how a policy ranks them, and what the others lack. Nothing is started.",
    permission: all(run("{ns}/{wf}"), grant("worker:*:read")),
    effect: "read",
    body: PlacementQuestion,
    answers: { 200: PlacementAnswer },
  },
  delete: {
    method: "DELETE",
    path: "/workflows/{ns}/{wf}",
    summary:
      "Deletes one version of a workflow, or all: no new run finds them; executions already created keep their code.",
    permission: grant("workflow:{ns}:{wf}:register"),
    effect: "write",
    query: z.strictObject({
      version: wholeNumber({ min: 1 }).optional().describe("only this one; all unless given"),
    }),
    answers: { 204: { raw: null, meaning: "the versions are deleted" } },
  },
  versions: {
    method: "GET",
    path: "/workflows/{ns}/{wf}/versions",
    summary: "Lists the versions of a workflow, newest first.",
    permission: read,
    effect: "read",
    query: z.strictObject(paging(1000, 200)),
    answers: { 200: listOf(WorkflowRecord) },
  },
  version: {
    method: "GET",
    path: "/workflows/{ns}/{wf}/versions/{version}",
    params: { version: wholeNumber({ min: 1 }) },
    summary: "Reads one version of a workflow.",
    permission: read,
    effect: "read",
    query: SourceQuery,
    answers: { 200: WithSource },
  },
} as const satisfies Record<string, Route>;
