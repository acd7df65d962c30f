import * as z from "zod";
import { AnyJson } from "../any-json.ts";
import { Name } from "../catalog.ts";
import { EVENT_TYPES } from "../event-values.ts";
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
import { parseInstant } from "../time.ts";

const RUN_BODY_LIMIT = 16 * 1024 * 1024;

/** How a run or resume is answered: wait for the end, return at once, or stream (EXE-81). */
export const RunMode = z.enum(["sync", "async", "stream"]);
export type RunMode = z.infer<typeof RunMode>;

const Waiting = {
  detailed: QueryFlag.optional().describe("adds the log"),
  timeout: z.coerce
    .number()
    .positive()
    .optional()
    .describe("seconds until `sync` answers as it is then, and `stream` ends"),
};
const EachEvent = z
  .enum(["all"])
  .optional()
  .describe("`all`: in a stream, each event of the log is a frame too, before that of its state");
const Version = z.coerce.number().int().positive().optional();
const RunVersion = Version.describe("the version to run; the latest unless given");
const PauseName = z
  .string()
  .optional()
  .describe("name or `task_call_id` of the pause, when several are open");
const Label = z.string().trim().min(1).max(200);
const CancelOnDisconnect = QueryFlag.optional().describe(
  "`true`: the execution is cancelled when the caller leaves before the answer",
);
/** An instant; without an offset it is UTC (EXE-73). */
const Instant = z.string().transform((text, context) => {
  const at = parseInstant(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  if (Number.isFinite(at)) return at;
  context.addIssue({ code: "custom", message: "must be an instant such as 2026-11-20T09:00:00Z" });
  return z.NEVER;
});
const RunQuery = z.strictObject({
  ...Waiting,
  events: EachEvent,
  cancel_on_disconnect: CancelOnDisconnect,
  version: RunVersion,
  name: Label.optional().describe("a label for people, shown in lists"),
  priority: z.coerce
    .number()
    .int()
    .min(-10)
    .max(10)
    .optional()
    .describe("from -10 to 10: a lower one waits as long as a higher one can start"),
  start_at: Instant.optional().describe("no worker gets it before this instant"),
  park_ttl: z.coerce
    .number()
    .min(0)
    .optional()
    .describe("seconds it may wait for a worker before it fails; 0 = for ever"),
});
const RunHeaders = z.object({
  "idempotency-key": z
    .string()
    .optional()
    .describe("of two starts with the same key one creates, the other is answered for it"),
  "x-engine-preferred-worker": Name.optional().describe("the worker that is asked first"),
  "x-engine-require-worker": Name.optional().describe("the only worker that may run it"),
});
const FollowHeaders = z.object({
  /** What a browser's EventSource sends by itself (EXE-93). */
  "last-event-id": z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe(
      "`id` of the last frame that was read: `stream` goes on behind it; 0 = from the beginning. With `events=all` the state that this event made is told again, since both frames have this id",
    ),
});
const ResumeQuery = z.strictObject({
  ...Waiting,
  events: EachEvent,
  cancel_on_disconnect: CancelOnDisconnect,
  pause: PauseName,
});
const BasicQuery = {
  inspect: QueryFlag.optional().describe("answers the whole record, with its log"),
  namespace: Name.default(DEFAULT_NAMESPACE).describe("of the workflow"),
  timeout: Waiting.timeout.describe("seconds until it answers as it is then"),
};

const MODES =
  "`mode` is `sync` (answers when it has ended or paused), `async` (answers at once) or `stream` (frames until then).";

const runAnswers = {
  200: ExecutionRecord,
  202: ExecutionRecord,
  409: ExecutionRecord,
  500: ExecutionRecord,
} as const;
const Basic = z.union([InspectedExecution, BasicExecution]);
const basicAnswers = { 200: Basic, 202: Basic, 409: Basic, 500: Basic } as const;

/** SSE frames of an execution: one per state, progress and, if asked for, events in between (EXE-91, EXE-92). */
const runFrames = ["{workflow}.execution.{state}", "event", "task.progress", "error"] as const;

const states = z.preprocess(
  (value) => (value === undefined ? undefined : [value].flat().map((s) => String(s).toUpperCase())),
  z.array(State).optional(),
);
const ExecutionFilter = {
  state: states.describe("only in this state, in any case; may be repeated"),
  version: Version.describe("only of this version"),
  name: z.string().optional().describe("only with a label that begins like this, in any case"),
  parent_id: z.string().min(1).optional().describe("only children of this execution"),
  root: QueryFlag.optional().describe("`true`: only executions that are nobody's child"),
  schedule: z.string().min(1).optional().describe("only those that this schedule started"),
  created_after: Instant.optional().describe("only those created after this instant"),
  created_before: Instant.optional().describe("only those created before this instant"),
  finished_after: Instant.optional().describe("only those that ended after this instant"),
  finished_before: Instant.optional().describe("only those that ended before this instant"),
  order: z
    .enum(["created_desc", "created_asc"])
    .default("created_desc")
    .describe("newest or oldest first"),
  before: z
    .string()
    .min(1)
    .optional()
    .describe("the page behind this execution, the last one of the page before"),
  ...paging(200, 50),
};
const EventPageQuery = {
  after: z.coerce.number().int().min(0).optional().describe("only events behind this `seq`"),
  before: z.coerce.number().int().min(1).optional().describe("only events before this `seq`"),
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
  mode: z.enum(["async", "sync"]).default("async").describe("`sync` waits until it has ended"),
  detailed: Waiting.detailed,
  timeout: Waiting.timeout.describe("seconds until `sync` answers as it is then"),
});
const Seq = z.int().positive();

export const executionRoutes = {
  run: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/run/{mode}",
    summary: `Starts a workflow; the body is its input. ${MODES}`,
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
    summary: `Starts a workflow of namespace \`default\`; the body is its input. ${MODES}`,
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
    summary:
      "Answers an open pause and waits until the execution has ended or paused again. The body is what its `pause` call returns.",
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
    summary: `Answers an open pause; the body is what its \`pause\` call returns. ${MODES}`,
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
    query: z.strictObject({ detailed: Waiting.detailed }),
    answers: { 200: ExecutionRecord },
  },
  cancel: {
    method: "POST",
    path: "/workflows/{ns}/{wf}/cancel/{id}",
    summary:
      "Cancels an execution and its children. What runs is told to stop and rolled back; `reason` is kept and shown.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    query: CancelQuery,
    body: z.strictObject({ reason: z.string().trim().min(1).max(1000).optional() }).nullable(),
    answers: cancelAnswers,
  },
  cancelLink: {
    method: "GET",
    path: "/workflows/{ns}/{wf}/cancel/{id}",
    summary: "The same as a link to click, without a reason.",
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
      namespace: Name.optional().describe("only of this namespace"),
      workflow: Name.optional().describe("only of workflows with this name"),
      ...ExecutionFilter,
    }),
    answers: { 200: listOf(ExecutionSummary) },
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
      limit: z.coerce.number().int().min(1).max(5000).optional().describe("at most so many events"),
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
      limit: z.coerce.number().int().min(1).max(5000).default(500).describe("at most so many"),
      type: z
        .preprocess(
          (value) => (value === undefined ? undefined : [value].flat()),
          z.array(z.enum(EVENT_TYPES)).optional(),
        )
        .describe("only events of this type; may be repeated"),
    }),
    answers: { 200: listOf(RecordedEvent) },
  },
  rename: {
    method: "PUT",
    path: "/executions/{id}/name",
    summary: "Gives an execution a label for people; null takes it away.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    body: z.strictObject({ name: Label.nullable() }),
    answers: { 200: ExecutionRecord },
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
    summary:
      "Sends a signal to an execution; the body is its payload. It is kept until a `signal` call of that name takes it.",
    permission: run("{ns}/{wf}"),
    effect: "write",
    body: AnyJson,
    answers: { 202: z.object({ execution_id: z.string(), name: z.string(), seq: Seq }) },
  },
  fork: {
    method: "POST",
    path: "/executions/{id}/fork",
    summary:
      "Starts a copy that keeps the log up to an event (`from_seq`) or before a call (`from_call`) and goes on from there; with neither it begins anew, with another `input` if one is given. `name` is its label.",
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
    summary: "Runs a workflow and waits until it has ended or paused; the body is its input.",
    permission: run("{namespace}/{workflow_name}"),
    effect: "write",
    query: z.strictObject({ ...BasicQuery, version: RunVersion }),
    headers: RunHeaders,
    body: AnyJson,
    bodyLimit: RUN_BODY_LIMIT,
    answers: basicAnswers,
  },
  resume: {
    method: "POST",
    path: "/{workflow_name}/{execution_id}",
    summary:
      "Answers an open pause and waits until the execution has ended or paused again; the body is what its `pause` call returns.",
    permission: run("{namespace}/{workflow_name}"),
    effect: "write",
    query: z.strictObject({ ...BasicQuery, pause: PauseName }),
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
