import * as z from "zod";
import { Runner, RunnerOptions } from "../definitions/runner.ts";
import { Event } from "../log/event.ts";
import { ClaimReason } from "../log/event-values.ts";
import { AnyJson } from "../values/any-json.ts";
import { ExecutionToken, TaskAuthz } from "./task-authz.ts";

/** An execution given to a worker, with all that its copy begins with. */
export const Assignment = z.object({
  execution_id: z.string(),
  generation: z.int().positive(),
  reason: ClaimReason,
  namespace: z.string(),
  workflow: z.string(),
  version: z.int().positive(),
  name: z.string().nullable(),
  created_at: z.string(),
  module: z.object({ hash: z.string(), bytes: z.int() }),
  input: AnyJson,
  /**
   * SHA-256 of affinity and routing as registration read them; null without both, absent of a server that
   * does not tell (EXE-69).
   */
  placement: z.string().nullable().optional(),
  /** The one its workflow asks for; null = the worker's default. */
  runner: Runner.nullable().default(null),
  runner_options: RunnerOptions.nullable().default(null),
  /** It may have ended what it ran in: nothing else is to run where it does (LIV-5). */
  apart: z.boolean().default(false),
  /** `seq` of the newest event. */
  head: z.int(),
  /** The end of the log, at most 256 KiB; what lies before `after` is read by pages. */
  history: z.object({ after: z.int(), events: z.array(Event) }),
  /** Of the generator behind `Math.random` in its body (EXE-31). */
  seed: z.string(),
  parent_id: z.string().nullable(),
  /** Only WORKFLOW_… events are recorded (EXE-58). */
  transient: z.boolean(),
  /** Whether anybody watches progress. */
  listen: z.boolean(),
  /**
   * A worker takes one that is missing or cannot be read for enforced without any grant, unless the
   * server speaks protocol 1, which knew none (AUTH-35).
   */
  authz: TaskAuthz.optional(),
  /** Null with authorization off (AUTH-39). */
  execution_token: ExecutionToken.nullable().default(null),
});
export type Assignment = z.infer<typeof Assignment>;

/** An execution under the claim of the worker that is told. */
const held = { execution_id: z.string(), generation: z.int() };

/** What a server sends down a worker's stream (WRK-7): the SSE event's name and its data. */
export const WorkerFrame = z.discriminatedUnion("event", [
  z.object({
    event: z.literal("welcome"),
    data: z.object({
      /** The server that holds the stream. */
      replica: z.string(),
      server_time: z.string(),
      /** Local services that are granted to the worker, of those that it offers (WMD-3). */
      services: z.array(z.string()).default([]),
      keep: z.array(z.object(held)),
      drop: z.array(z.object({ ...held, reason: z.string() })),
    }),
  }),
  z.object({ event: z.literal("assign"), data: Assignment }),
  z.object({
    event: z.literal("events"),
    data: z.object({
      ...held,
      /** `seq` before the first of `events`. */
      base_seq: z.int(),
      events: z.array(Event),
    }),
  }),
  z.object({ event: z.literal("revoke"), data: z.object({ ...held, reason: z.string() }) }),
  z.object({
    event: z.literal("listen"),
    data: z.object({ execution_id: z.string(), on: z.boolean() }),
  }),
  z.object({
    event: z.literal("grants"),
    data: z.object({
      ...held,
      /** In place of those that it came with; from now on they are enforced (AUTH-36). */
      task_grants: z.array(z.string()),
      /**
       * Its principal cannot be used: no task begins any more, and as soon as nothing runs the execution
       * goes back as `principal_unavailable`. A later frame without it lets one that is still here go on.
       */
      hold: z.boolean().optional(),
    }),
  }),
  z.object({
    event: z.literal("superseded"),
    data: z.object({ host: z.string(), pid: z.int() }),
  }),
  z.object({
    event: z.literal("control"),
    data: z.object({
      /** `reconnect`: leave this server, wait as long as it says, and find another one (WRK-13). */
      command: z.enum(["pause", "resume", "drain", "reconnect"]),
      timeout_seconds: z.number().optional(),
      delay_seconds: z.number().optional(),
    }),
  }),
  z.object({
    event: z.literal("services"),
    /** All that are granted now: in place of what `welcome` or an earlier one said (WMD-3). */
    data: z.object({ granted: z.array(z.string()) }),
  }),
  z.object({ event: z.literal("ping"), data: z.object({}) }),
]);
export type WorkerFrame = z.infer<typeof WorkerFrame>;

/** The data of each frame by its name. */
export const workerFrames: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  WorkerFrame.options.map(({ shape: { event, data } }) => [event.value, data]),
);

/** A page of the log of an execution, oldest first; `head` is the `seq` of its newest event. */
export const EventPage = z.object({ events: z.array(Event), head: z.int() });
export type EventPage = z.infer<typeof EventPage>;
