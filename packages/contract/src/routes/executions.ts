import * as z from "zod";
import { AnyJson } from "../any-json.ts";
import { Name } from "../catalog.ts";
import {
  BasicExecution,
  ExecutionRecord,
  ExecutionSummary,
  InspectedExecution,
  State,
} from "../execution.ts";
import { History } from "../history.ts";
import { listOf, paging, QueryFlag } from "../list.ts";
import { DEFAULT_NAMESPACE } from "../name.ts";
import { all, any, grant, run, scoped } from "../permission.ts";
import { RecordedEvent } from "../recorded-event.ts";
import type { Route } from "../route.ts";

const RUN_BODY_LIMIT = 16 * 1024 * 1024;

/** How a run or resume is answered: wait for the end, return at once, or stream (EXE-81). */
export const RunMode = z.enum(["sync", "async", "stream"]);
export type RunMode = z.infer<typeof RunMode>;

const Waiting = {
  detailed: QueryFlag.optional(),
  /** Seconds a sync call waits before it answers 202. */
  timeout: z.coerce.number().positive().optional(),
};
const Version = z.coerce.number().int().positive().optional();
const RunQuery = z.strictObject({
  ...Waiting,
  version: Version,
  name: z.string().trim().min(1).max(200).optional(),
});
const RunHeaders = z.object({
  /** Of two starts with the same key one creates an execution, the other is answered for it. */
  "idempotency-key": z.string().optional(),
});
const FollowHeaders = z.object({
  /** `seq` of the last frame a follower has: what came after it is sent first (EXE-93). */
  "last-event-id": z.coerce.number().int().min(0).optional(),
});
const ResumeQuery = z.strictObject({ ...Waiting, pause: z.string().optional() });
const BasicQuery = {
  inspect: QueryFlag.optional(),
  namespace: Name.default(DEFAULT_NAMESPACE),
  timeout: Waiting.timeout,
};

const runAnswers = {
  200: ExecutionRecord,
  202: ExecutionRecord,
  409: ExecutionRecord,
  500: ExecutionRecord,
} as const;
const Basic = z.union([InspectedExecution, BasicExecution]);
const basicAnswers = { 200: Basic, 202: Basic, 409: Basic, 500: Basic } as const;

/** SSE frames of an execution: one per state, progress in between (EXE-91, EXE-92). */
const runFrames = ["{workflow}.execution.{state}", "task.progress", "error"] as const;

const states = z.preprocess(
  (value) => (value === undefined ? undefined : [value].flat().map((s) => String(s).toUpperCase())),
  z.array(State).optional(),
);
const ExecutionFilter = {
  state: states,
  version: Version,
  name: z.string().optional(),
  /** Only children of this execution. */
  parent_id: z.string().min(1).optional(),
  /** True: no children. */
  root: QueryFlag.optional(),
  order: z.enum(["created_desc", "created_asc"]).default("created_desc"),
  ...paging(200, 50),
};
const EventPageQuery = {
  after: z.coerce.number().int().min(0).optional(),
  before: z.coerce.number().int().min(1).optional(),
};

const read = any(
  grant("workflow:{ns}:{wf}:read"),
  // Whoever started it may follow it without the grant.
  grant("workflow:{ns}:{wf}:run"),
);
const readExecution = all(grant("execution:*:read"), grant("workflow:{ns}:{wf}:read"));
const listExecutions = all(grant("execution:*:read"), scoped("workflow:{ns}:{wf}:read"));

const cancelAnswers = { 200: ExecutionRecord, 202: ExecutionRecord } as const;
const CancelQuery = z.strictObject({
  mode: z.enum(["async", "sync"]).default("async"),
  detailed: QueryFlag.optional(),
  timeout: Waiting.timeout,
});
const Seq = z.int().positive();

export const executionRoutes = {
  run: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/run/{mode}",
    summary: "Starts a workflow; the body is its input.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    query: RunQuery,
    headers: RunHeaders,
    body: AnyJson,
    bodyLimit: RUN_BODY_LIMIT,
    answers: runAnswers,
    frames: runFrames,
  },
  runDefault: {
    method: "POST",
    path: "/workflows/{wf}/run/{mode}",
    summary: "Starts a workflow of namespace `default`.",
    permission: run("default/{wf}"),
    effect: "write",
    query: RunQuery,
    headers: RunHeaders,
    body: AnyJson,
    bodyLimit: RUN_BODY_LIMIT,
    answers: runAnswers,
    frames: runFrames,
  },
  resume: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/resume/{id}",
    summary: "Answers an open pause and waits; the body is the resume input.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    query: ResumeQuery,
    body: AnyJson,
    bodyLimit: RUN_BODY_LIMIT,
    answers: runAnswers,
  },
  resumeMode: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/resume/{id}/{mode}",
    summary: "Answers an open pause in the given mode.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    query: ResumeQuery,
    body: AnyJson,
    bodyLimit: RUN_BODY_LIMIT,
    answers: runAnswers,
    frames: runFrames,
  },
  status: {
    method: "GET",
    path: "/workflows/{ns}/{wf}/status/{id}",
    summary: "Reads one execution of a workflow.",
    permission: read,
    effect: "read",
    query: z.strictObject({ detailed: QueryFlag.optional() }),
    answers: { 200: ExecutionRecord },
  },
  cancel: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/cancel/{id}",
    summary: "Cancels an execution and its children; `mode=sync` waits until it has ended.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    query: CancelQuery,
    body: z.strictObject({ reason: z.string().trim().min(1).max(1000).optional() }).nullable(),
    answers: cancelAnswers,
  },
  cancelLink: {
    method: "GET",
    path: "/workflows/{ns}/{wf}/cancel/{id}",
    summary: "Cancels an execution, for a link to click.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    query: CancelQuery,
    answers: cancelAnswers,
  },
  listOfWorkflow: {
    method: "GET",
    path: "/workflows/{ns}/{wf}/executions",
    summary: "Lists executions of a workflow, newest first.",
    permission: listExecutions,
    effect: "read",
    query: z.strictObject(ExecutionFilter),
    answers: { 200: listOf(ExecutionSummary) },
  },
  list: {
    method: "GET",
    path: "/executions",
    summary: "Lists executions, newest first.",
    permission: listExecutions,
    effect: "read",
    query: z.strictObject({
      namespace: Name.optional(),
      workflow: Name.optional(),
      ...ExecutionFilter,
    }),
    answers: { 200: listOf(ExecutionSummary) },
  },
  get: {
    method: "GET",
    path: "/executions/{id}",
    summary:
      "Reads one execution; `detailed=true` adds its log, or the page of it asked for; `mode=sync` waits for its end or pause first; `mode=stream` follows it from its state now until it has ended, or from the `Last-Event-ID` it was followed to.",
    permission: readExecution,
    effect: "read",
    query: z.strictObject({
      ...Waiting,
      mode: z.enum(["sync", "stream"]).optional(),
      ...EventPageQuery,
      limit: z.coerce.number().int().min(1).max(5000).optional(),
    }),
    headers: FollowHeaders,
    answers: runAnswers,
    frames: runFrames,
  },
  events: {
    method: "GET",
    path: "/executions/{id}/events",
    summary: "Reads the log of an execution, oldest first; `after` continues a page.",
    permission: readExecution,
    effect: "read",
    query: z.strictObject({
      after: EventPageQuery.after,
      limit: z.coerce.number().int().min(1).max(5000).default(500),
    }),
    answers: { 200: listOf(RecordedEvent) },
  },
  eventValue: {
    method: "GET",
    path: "/executions/{id}/events/{seq}/value",
    summary: "Reads the whole value of one event, also one that is kept outside the log.",
    permission: readExecution,
    effect: "read",
    answers: { 200: AnyJson },
  },
  history: {
    method: "GET",
    path: "/executions/{id}/history",
    summary: "Exports an execution with its typed log, for `engine workflow replay` and for tests.",
    permission: readExecution,
    effect: "read",
    answers: { 200: History },
  },
  signal: {
    method: "POST",
    path: "/executions/{id}/signals/{name}",
    summary: "Sends a signal to an execution; the body is its payload.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    body: AnyJson,
    answers: { 202: z.object({ execution_id: z.string(), name: z.string(), seq: Seq }) },
  },
  fork: {
    method: "POST",
    path: "/executions/{id}/fork",
    summary:
      "Starts a copy that goes on from an event or before a call of this one; without a cut, anew.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    body: z
      .strictObject({
        from_seq: Seq.optional(),
        from_call: z.string().optional(),
        input: AnyJson.optional(),
        version: z.int().positive().optional(),
        name: z.string().trim().min(1).max(200).optional(),
      })
      .nullable(),
    bodyLimit: RUN_BODY_LIMIT,
    answers: { 201: ExecutionRecord },
  },
} as const satisfies Record<string, Route>;

/** The basic API (EXE-89). Fixed routes win over these. */
export const basicRoutes = {
  run: {
    method: "POST",
    path: "/{workflow_name}",
    summary: "Runs a workflow and waits; `inspect=true` adds all detail.",
    permission: run("{namespace}/{workflow_name}"),
    effect: "write",
    query: z.strictObject({ ...BasicQuery, version: Version }),
    body: AnyJson,
    bodyLimit: RUN_BODY_LIMIT,
    answers: basicAnswers,
  },
  resume: {
    method: "POST",
    path: "/{workflow_name}/{execution_id}",
    summary: "Resumes a paused execution and waits.",
    permission: run("{namespace}/{workflow_name}"),
    effect: "write",
    query: z.strictObject({ ...BasicQuery, pause: z.string().optional() }),
    body: AnyJson,
    bodyLimit: RUN_BODY_LIMIT,
    answers: basicAnswers,
  },
  inspect: {
    method: "GET",
    path: "/inspect/{execution_id}",
    summary: "Reads an execution with its whole log.",
    permission: readExecution,
    effect: "read",
    answers: { 200: InspectedExecution },
  },
} as const satisfies Record<string, Route>;
