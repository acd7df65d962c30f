import * as z from "zod";
import { Name } from "../definitions/catalog.ts";
import { ErrorBody } from "../errors/errors.ts";
import { ExecutionRecord, ExecutionSummary } from "../executions/execution.ts";
import { Why } from "../executions/why.ts";
import { EVENT_TYPES } from "../log/event-values.ts";
import { History } from "../log/history.ts";
import { RecordedEvent } from "../log/recorded-event.ts";
import { AnyJson } from "../values/any-json.ts";
import { filteredListOf, listOf, repeated } from "../wire/list.ts";
import { all, any, grant, own, run, scoped } from "../wire/permission.ts";
import { wholeNumber } from "../wire/query-number.ts";
import type { Route } from "../wire/route.ts";
import { TaskProgress } from "../workers/progress.ts";
import {
  aimed,
  CancelQuery,
  EachEvent,
  EventPageQuery,
  ExecutionFilter,
  FollowHeaders,
  Label,
  ResumeQuery,
  RoutingHeaders,
  RunHeaders,
  RunMode,
  RunQuery,
  Waiting,
} from "./execution-queries.ts";

const MODES =
  "`mode` is `sync` (answers when it has ended or paused), `async` (answers at once) or `stream` (frames until then).";

const runAnswers = {
  200: ExecutionRecord,
  202: ExecutionRecord,
  409: ExecutionRecord,
  500: ExecutionRecord,
} as const;

/** SSE frames of an execution: one per state, progress and, if asked for, events in between (EXE-91, EXE-92). */
const runFrames = {
  "{workflow}.execution.{state}": ExecutionRecord,
  event: RecordedEvent,
  "task.progress": TaskProgress,
  error: ErrorBody.shape.error,
} as const;

const runOf = grant("workflow:{ns}:{wf}:run");
/** Who may start executions may follow their own without the grant to read. */
const status = any(grant("workflow:{ns}:{wf}:read"), all(runOf, own));
export const readExecution = all(grant("execution:*:read"), grant("workflow:{ns}:{wf}:read"));
const listExecutions = all(grant("execution:*:read"), scoped("workflow:{ns}:{wf}:read"));

/** Subject of a principal. */
const Subject = z.string().min(1).max(255);
/** Whoever names somebody else needs the right to be that one. */
const impersonate = grant("principal:{subject}:impersonate");
const cancelAnswers = { 200: ExecutionRecord, 202: ExecutionRecord } as const;
const Seq = z.int().positive();

/** A start, wherever the workflow is named. */
const start = {
  method: "POST",
  params: { mode: RunMode },
  effect: "write",
  query: RunQuery,
  headers: RunHeaders,
  body: AnyJson,
  bodyLimit: "value",
  answers: runAnswers,
  frames: runFrames,
} as const;

export const executionRoutes = {
  run: {
    ...start,
    path: "/workflows/{ns}/{wf}/run/{mode}",
    summary: `Starts a workflow; the body is its input. ${MODES}`,
    permission: aimed(run("{ns}/{wf}")),
  },
  runDefault: {
    ...start,
    path: "/workflows/{wf}/run/{mode}",
    summary: `Starts a workflow of namespace \`default\`; the body is its input. ${MODES}`,
    permission: aimed(run("default/{wf}")),
  },
  resume: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/resume/{id}",
    summary:
      "Answers an open pause and waits until the execution has ended or paused again. The body is what its `pause` call returns.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    query: ResumeQuery,
    body: AnyJson,
    bodyLimit: "value",
    answers: runAnswers,
  },
  resumeMode: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/resume/{id}/{mode}",
    params: { mode: RunMode },
    summary: `Answers an open pause; the body is what its \`pause\` call returns. ${MODES}`,
    permission: run("{ns}/{wf}"),
    effect: "write",
    query: ResumeQuery,
    body: AnyJson,
    bodyLimit: "value",
    answers: runAnswers,
    frames: runFrames,
  },
  status: {
    method: "GET",
    path: "/workflows/{ns}/{wf}/status/{id}",
    summary: "Reads one execution of a workflow.",
    permission: status,
    effect: "read",
    query: z.strictObject({ detailed: Waiting.detailed }),
    answers: { 200: ExecutionRecord },
  },
  cancel: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/cancel/{id}",
    summary:
      "Cancels an execution and its children. What runs is told to stop and rolled back; `reason` is kept and shown.",
    permission: runOf,
    effect: "write",
    query: CancelQuery,
    body: z.strictObject({ reason: z.string().trim().min(1).max(1000).optional() }).nullable(),
    answers: cancelAnswers,
  },
  cancelLink: {
    method: "GET",
    path: "/workflows/{ns}/{wf}/cancel/{id}",
    summary: "The same as a link to click, without a reason.",
    permission: runOf,
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
    answers: { 200: filteredListOf(ExecutionSummary) },
  },
  list: {
    method: "GET",
    path: "/executions",
    summary: "Lists executions, newest first.",
    permission: listExecutions,
    effect: "read",
    query: z.strictObject({
      namespace: Name.optional().describe("only of this namespace"),
      workflow: Name.optional().describe("only of workflows with this name"),
      ...ExecutionFilter,
    }),
    answers: { 200: filteredListOf(ExecutionSummary) },
  },
  get: {
    method: "GET",
    path: "/executions/{id}",
    summary:
      "Reads one execution: as it is, once it has ended or paused (`mode=sync`), or as frames from its state now to its end (`mode=stream`). Without a mode the answer is 200 in every state. `after`, `before` and `limit` choose a page of the log that `detailed=true` adds.",
    permission: readExecution,
    effect: "read",
    query: z.strictObject({
      ...Waiting,
      mode: z
        .enum(["sync", "stream"])
        .optional()
        .describe("`sync` waits for its end or a pause, `stream` follows it"),
      events: EachEvent,
      ...EventPageQuery,
      limit: wholeNumber({ min: 1, max: 5000 }).optional().describe("at most so many events"),
    }),
    headers: FollowHeaders,
    answers: runAnswers,
    frames: runFrames,
  },
  events: {
    method: "GET",
    path: "/executions/{id}/events",
    summary:
      "Reads the log of an execution, oldest first. The next page is asked for with the last `seq` as `after`.",
    permission: readExecution,
    effect: "read",
    query: z.strictObject({
      after: EventPageQuery.after,
      limit: wholeNumber({ min: 1, max: 5000 }).prefault(500).describe("at most so many"),
      type: repeated(z.enum(EVENT_TYPES)).describe("only events of this type; may be repeated"),
    }),
    answers: { 200: listOf(RecordedEvent) },
  },
  why: {
    method: "GET",
    path: "/executions/{id}/why",
    summary:
      "Says why an execution waits, or what it does: asked of the gate that gives it to a worker, with what would end the wait. Workers and other executions are named as far as the caller may read them.",
    permission: readExecution,
    effect: "read",
    answers: { 200: Why },
  },
  rename: {
    method: "PUT",
    path: "/executions/{id}/name",
    summary: "Gives an execution a label for people; null takes it away.",
    permission: runOf,
    effect: "write",
    body: z.strictObject({ name: Label.nullable() }),
    answers: { 200: ExecutionRecord },
  },
  setPrincipal: {
    method: "PUT",
    path: "/executions/{id}/principal",
    summary:
      "Gives an execution that has not ended the rights of another principal, a service account or the caller.",
    permission: all(run("{ns}/{wf}"), impersonate),
    effect: "write",
    body: z.strictObject({ subject: Subject }),
    answers: { 200: ExecutionRecord },
  },
  takeOver: {
    method: "POST",
    path: "/executions/take-over",
    summary:
      "Does the same for many, oldest first: those of one principal (`from`), by default those of nobody. What the caller may not run is passed over, what the principal may not run is left and named.",
    permission: all(scoped("workflow:{ns}:{wf}:run"), impersonate),
    effect: "write",
    body: z.strictObject({
      subject: Subject,
      from: Subject.nullable().optional(),
      namespace: Name.optional(),
      workflow: Name.optional(),
      limit: z.int().min(1).max(10_000).default(1000),
    }),
    answers: {
      200: z.object({
        taken: z.int(),
        /** That the same request would take next. */
        remaining: z.int(),
        refused: z.array(
          z.object({ workflow: z.string(), missing_permissions: z.array(z.string()) }),
        ),
      }),
    },
  },
  eventValue: {
    method: "GET",
    path: "/executions/{id}/events/{seq}/value",
    params: { seq: wholeNumber({ min: 1 }) },
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
    summary:
      "Sends a signal to an execution; the body is its payload. It is kept until a `signal` call of that name takes it.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    body: AnyJson,
    bodyLimit: "value",
    answers: { 202: z.object({ execution_id: z.string(), name: z.string(), seq: Seq }) },
  },
  fork: {
    method: "POST",
    path: "/executions/{id}/fork",
    summary:
      "Starts a copy that keeps the log up to an event (`from_seq`) or before a call (`from_call`) and goes on from there; with neither it begins anew, with another `input` if one is given. `name` is its label.",
    permission: all(run("{ns}/{wf}"), grant("workflow:{ns}:{wf}:read")),
    effect: "write",
    headers: RoutingHeaders,
    body: z
      .strictObject({
        from_seq: Seq.optional(),
        from_call: z.string().optional(),
        input: AnyJson.optional(),
        version: z.int().positive().optional(),
        name: Label.optional(),
      })
      .nullable(),
    bodyLimit: "value",
    answers: { 201: ExecutionRecord },
  },
} as const satisfies Record<string, Route>;
