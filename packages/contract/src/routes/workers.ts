import * as z from "zod";
import { CacheKey } from "../definitions/task-cache.ts";
import { ErrorBody } from "../errors/errors.ts";
import { AnyJson } from "../values/any-json.ts";
import { StoredReference } from "../values/stored-reference.ts";
import { worker } from "../wire/permission.ts";
import { wholeNumber } from "../wire/query-number.ts";
import type { Route } from "../wire/route.ts";
import {
  Checkpoint,
  CheckpointAccepted,
  CheckpointAnswer,
  CheckpointItem,
} from "../workers/checkpoint.ts";
import { ProgressAccepted, ProgressBatch } from "../workers/progress.ts";
import { ReleaseAnswer, ReleaseItem } from "../workers/release.ts";
import { ExecutionToken } from "../workers/task-authz.ts";
import {
  Connect,
  Heartbeat,
  HeartbeatAnswer,
  Poll,
  SESSION_HEADER,
  WorkerCredential,
  WorkerRegistered,
  WorkerRegistration,
} from "../workers/worker.ts";
import { EventPage, WorkerFrame, workerFrames } from "../workers/worker-frame.ts";

/** Of bodies that hold what goes into logs: many values, each up to `max_value_bytes`. */
const LOG_LIMIT = 64 * 1024 * 1024;
const session = z.object({
  [SESSION_HEADER]: z.string().optional().describe("the secret that registration answered"),
});
const CheckpointBatch = z.strictObject({ items: z.array(CheckpointItem).max(256) });
const CheckpointAnswers = z.object({ items: z.array(CheckpointAnswer) });
const Generation = wholeNumber({ min: 1 }).describe("of the claim under which the session owns it");
const CacheQuestion = z.strictObject({
  generation: z.int().positive(),
  ...CacheKey.omit({ namespace: true }).shape,
});

const AskedValues = {
  execution_id: z.string(),
  generation: z.int().positive(),
  names: z.array(z.string()).min(1).max(1000),
};
const NamedValues = z.record(z.string(), AnyJson);

/** The worker protocol (WRK-6). Redaction never applies to it. */
export const workerRoutes = {
  register: {
    method: "POST",
    path: "/workers/register",
    summary:
      "Registers a worker process and opens its session; with authorization on by the bootstrap token, a join token, or the worker's own credential.",
    permission: worker,
    effect: "write",
    redact: false,
    limit: { rate: "register", per: "address" },
    body: WorkerRegistration,
    answers: { 200: WorkerRegistered, 201: WorkerRegistered },
  },
  credential: {
    method: "POST",
    path: "/workers/{name}/credential",
    summary: "Gives a worker the successor of the credential that it sends.",
    permission: worker,
    effect: "write",
    redact: false,
    answers: { 200: WorkerCredential },
  },
  connect: {
    method: "POST",
    path: "/workers/{name}/connect",
    summary: "Opens the stream that brings the worker its work.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    body: Connect,
    answers: { 200: { raw: "text/event-stream", meaning: "frames, `welcome` first" } },
    frames: { ...workerFrames, error: ErrorBody.shape.error },
  },
  poll: {
    method: "POST",
    path: "/workers/{name}/poll",
    summary: "Says that the worker lives, and waits for frames: for networks that break streams.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    body: Poll,
    answers: { 200: z.object({ frames: z.array(WorkerFrame) }) },
  },
  heartbeat: {
    method: "POST",
    path: "/workers/{name}/heartbeat",
    summary: "Says that the worker lives and what it holds.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    body: Heartbeat,
    answers: { 200: HeartbeatAnswer },
  },
  checkpoint: {
    method: "POST",
    path: "/checkpoint/{id}",
    summary: "Appends to the log of one execution.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session.extend({
      "x-engine-worker": z
        .string()
        .optional()
        .describe("the worker's name, checked when it is sent; the session alone tells it"),
    }),
    body: Checkpoint,
    bodyLimit: LOG_LIMIT,
    answers: { 200: CheckpointAccepted },
  },
  checkpoints: {
    method: "POST",
    path: "/workers/{name}/checkpoints",
    summary: "Appends to the logs of many executions in one commit.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    body: CheckpointBatch,
    bodyLimit: LOG_LIMIT,
    answers: { 200: CheckpointAnswers },
  },
  checkpointLines: {
    method: "POST",
    path: "/workers/{name}/checkpoints/stream",
    summary:
      "Appends to logs over one open request: a line of JSON for each batch of `checkpoints`.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    body: CheckpointBatch,
    bodyLimit: LOG_LIMIT,
    lines: CheckpointAnswers,
    answers: {
      200: { raw: "application/x-ndjson", meaning: "for each line the answer of `checkpoints`" },
    },
  },
  release: {
    method: "POST",
    path: "/workers/{name}/release",
    summary: "Gives executions back to the queue.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    body: z.strictObject({ items: z.array(ReleaseItem).max(256) }),
    answers: { 200: z.object({ items: z.array(ReleaseAnswer) }) },
  },
  progress: {
    method: "POST",
    path: "/workers/{name}/progress/{execution_id}",
    summary: "Passes progress values on to whoever watches; nothing is stored.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    body: ProgressBatch,
    answers: { 200: ProgressAccepted },
  },
  module: {
    method: "GET",
    path: "/workers/{name}/modules/{hash}",
    summary: "Reads the bundle of an execution the session owns.",
    permission: worker,
    effect: "read",
    redact: false,
    headers: session,
    answers: { 200: { raw: "text/javascript", meaning: "the bundle, immutable" } },
  },
  events: {
    method: "GET",
    path: "/workers/{name}/executions/{id}/events",
    summary: "Reads the log of an execution the session owns.",
    permission: worker,
    effect: "read",
    redact: false,
    headers: session,
    query: z.strictObject({
      generation: Generation,
      after: wholeNumber({ min: 0 }).prefault(0).describe("only events behind this `seq`"),
      limit: wholeNumber({ min: 1, max: 1000 }).prefault(1000).describe("at most so many"),
    }),
    answers: { 200: EventPage },
  },
  saveValue: {
    method: "PUT",
    path: "/workers/{name}/executions/{id}/values/{sha256}",
    summary: "Keeps a value outside the log, under the SHA-256 of its text.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    query: z.strictObject({ generation: Generation }),
    body: z.strictObject({
      text: z.string(),
      hidden: z.boolean().optional().describe("kept encrypted: no read answers it"),
    }),
    bodyLimit: "quoted_value",
    answers: { 200: StoredReference },
  },
  loadValue: {
    method: "GET",
    path: "/workers/{name}/executions/{id}/values/{sha256}",
    summary: "Reads a value that the execution keeps outside its log.",
    permission: worker,
    effect: "read",
    redact: false,
    headers: session,
    query: z.strictObject({
      generation: Generation,
      of: z.string().optional().describe("the execution that made it, when that is another one"),
    }),
    answers: { 200: { raw: "application/json", meaning: "the value as the log would hold it" } },
  },
  cacheLookup: {
    method: "POST",
    path: "/workers/{name}/executions/{id}/cache",
    summary: "Looks for the kept output of a task.",
    permission: worker,
    effect: "read",
    redact: false,
    headers: session,
    body: CacheQuestion,
    answers: { 200: z.object({ hit: z.boolean(), value: AnyJson.optional() }) },
  },
  cacheKeep: {
    method: "PUT",
    path: "/workers/{name}/executions/{id}/cache",
    summary: "Keeps the output of a task for calls with the same key.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    body: CacheQuestion.extend({ value: AnyJson, ttl_ms: z.int().positive() }),
    bodyLimit: LOG_LIMIT,
    answers: { 204: { raw: null, meaning: "the output is kept" } },
  },
  executionToken: {
    method: "POST",
    path: "/workers/{name}/executions/{id}/token",
    summary: "Makes a token that acts as the principal an execution of the session runs as.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    body: z.strictObject({ generation: z.int().positive() }),
    answers: { 200: ExecutionToken },
  },
  secrets: {
    method: "POST",
    path: "/workers/{name}/secrets/batch",
    summary: "Reads secrets that a task declares, for an execution the session owns.",
    permission: worker,
    effect: "read",
    redact: false,
    headers: session,
    body: z.strictObject({ ...AskedValues, task: z.string() }),
    answers: { 200: NamedValues },
  },
  configs: {
    method: "POST",
    path: "/workers/{name}/configs/batch",
    summary: "Reads configs that a task declares, or the workflow's code asks for.",
    permission: worker,
    effect: "read",
    redact: false,
    headers: session,
    body: z.strictObject({
      ...AskedValues,
      task: z.string().nullable().describe("null: the workflow's own code, which may ask for any"),
    }),
    answers: { 200: NamedValues },
  },
  disconnect: {
    method: "POST",
    path: "/workers/{name}/disconnect",
    summary: "Ends the session; what it ran goes back to the queue.",
    permission: worker,
    effect: "write",
    redact: false,
    headers: session,
    answers: { 204: { raw: null, meaning: "the session has ended" } },
  },
} as const satisfies Record<string, Route>;
