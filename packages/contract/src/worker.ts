import * as z from "zod";
import { AnyJson } from "./any-json.ts";
import { Name } from "./catalog.ts";
import { ErrorBody } from "./errors.ts";
import { Event, NewEvent } from "./event.ts";
import { ClaimReason } from "./event-values.ts";
import { State, Wait } from "./execution.ts";
import { Failure } from "./failure.ts";
import { Runner, RunnerOptions } from "./runner.ts";

/** The protocol's number: a worker and a server that differ by more than one do not talk (WRK-2). */
export const WORKER_PROTOCOL = 1;

/** Header that names the session on every worker route but `register` (WRK-3). */
export const SESSION_HEADER = "x-engine-worker-session";

export const Labels = z
  .record(
    z
      .string()
      .max(128)
      .regex(/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/, "must be a label key"),
    z
      .string()
      .min(1)
      .max(256)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
      .regex(/^[^\u0000-\u001f\u007f]*$/, "must not contain control characters"),
  )
  .refine((labels) => Object.keys(labels).length <= 64, "at most 64 labels");
export type Labels = z.infer<typeof Labels>;

const bytes = z.number().nonnegative();

/** What a worker's machine has, and how much of it is free: cores, bytes, devices (WRK-2). */
export const WorkerResources = z.strictObject({
  cpu_total: z.number().nonnegative(),
  cpu_available: z.number().nonnegative(),
  memory_total: bytes,
  memory_available: bytes,
  disk_total: bytes,
  disk_free: bytes,
  gpus: z.array(z.strictObject({ name: z.string(), memory_total: bytes })).default([]),
});
export type WorkerResources = z.infer<typeof WorkerResources>;

/** A package that workflows may ask for (RES-3). */
export const WorkerPackage = z.strictObject({ name: z.string().min(1), version: z.string() });
export type WorkerPackage = z.infer<typeof WorkerPackage>;

const ServiceName = z
  .string()
  .max(32)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lower-case words joined by hyphens");

/** How frames reach a worker: down a stream, or as answers to its polls (WRK-10). */
export const DispatchMode = z.enum(["event", "poll"]);
export type DispatchMode = z.infer<typeof DispatchMode>;

/** `POST /workers/register`: one process life under a name (WRK-1, WRK-2). */
export const WorkerRegistration = z.strictObject({
  name: Name.refine((name) => name !== "local" && name !== "join-tokens", "is a reserved name"),
  /** UUIDv7 made at process start; the same one again continues the session. */
  instance_id: z.uuidv7(),
  protocol: z.int(),
  engine_version: z.string(),
  host: z.string(),
  pid: z.int(),
  runtime: z.strictObject({ os: z.string(), arch: z.string(), node: z.string() }),
  labels: Labels.default({}),
  /** Executions at a time; 0 = unlimited. */
  slots: z.int().nonnegative().default(64),
  runners: z.array(Runner).min(1).default(["thread", "process"]),
  default_runner: Runner.default("thread"),
  /** Without them it has room for whatever is asked (RES-2). */
  resources: WorkerResources.nullable().default(null),
  packages: z.array(WorkerPackage).max(2000).default([]),
  /** Local sockets it offers to task code (WMD-3). */
  services: z.array(ServiceName).default([]),
});
export type WorkerRegistration = z.infer<typeof WorkerRegistration>;

/** The server's limits a worker applies in place of its own configuration. */
export const ExecutionLimits = z.object({
  /** Seconds siblings of a failed branch, and calls a body left open, get to settle. */
  sibling_grace: z.number(),
  /** Seconds a sleep or retry delay may take and still keep its slot (EXE-50). */
  inline_wait: z.number(),
  /** Seconds each rollback gets after a cancel. */
  rollback_timeout: z.number(),
  max_events: z.int(),
  /** A larger value is kept outside the log (EXE-49). */
  inline_value_bytes: z.int(),
  max_value_bytes: z.int(),
});
export type ExecutionLimits = z.infer<typeof ExecutionLimits>;

export const WorkerRegistered = z.object({
  worker: z.object({ name: z.string(), labels: Labels, slots: z.int() }),
  /** A secret: the server keeps only its hash. */
  session: z.string(),
  /** How the server would like it to get its frames; its own setting wins. */
  dispatch: DispatchMode,
  heartbeat_seconds: z.number(),
  executions: ExecutionLimits,
});
export type WorkerRegistered = z.infer<typeof WorkerRegistered>;

/** An execution a worker holds: how far it knows the log, under which generation. */
export const Holding = z.object({
  execution_id: z.string(),
  generation: z.int().positive(),
  seq: z.int().nonnegative(),
});
export type Holding = z.infer<typeof Holding>;

export const Connect = z.strictObject({ running: z.array(Holding) });

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
  /** The one its workflow asks for; null = the worker's default. */
  runner: Runner.nullable().default(null),
  runner_options: RunnerOptions.nullable().default(null),
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
});
export type Assignment = z.infer<typeof Assignment>;

/** What a server sends down a worker's stream (WRK-7): the SSE event's name and its data. */
export const WorkerFrame = z.discriminatedUnion("event", [
  z.object({
    event: z.literal("welcome"),
    data: z.object({
      /** The server that holds the stream. */
      replica: z.string(),
      server_time: z.string(),
      keep: z.array(z.object({ execution_id: z.string(), generation: z.int() })),
      drop: z.array(
        z.object({ execution_id: z.string(), generation: z.int(), reason: z.string() }),
      ),
    }),
  }),
  z.object({ event: z.literal("assign"), data: Assignment }),
  z.object({
    event: z.literal("events"),
    data: z.object({
      execution_id: z.string(),
      generation: z.int(),
      /** `seq` before the first of `events`. */
      base_seq: z.int(),
      events: z.array(Event),
    }),
  }),
  z.object({
    event: z.literal("revoke"),
    data: z.object({ execution_id: z.string(), generation: z.int(), reason: z.string() }),
  }),
  z.object({
    event: z.literal("listen"),
    data: z.object({ execution_id: z.string(), on: z.boolean() }),
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
  z.object({ event: z.literal("ping"), data: z.object({}) }),
]);
export type WorkerFrame = z.infer<typeof WorkerFrame>;

/** `draining`: nothing new, and it will leave; `paused`: nothing new until it is resumed. */
export const WorkerActivity = z.enum(["active", "paused", "draining"]);
export type WorkerActivity = z.infer<typeof WorkerActivity>;

/** What a worker says of itself each interval, and at once when status or health change (LIV-1). */
export const Heartbeat = z.strictObject({
  status: WorkerActivity.default("active"),
  /** False while its main loop cannot keep up (RUN-5). */
  healthy: z.boolean().default(true),
  running: z.array(Holding),
  slots_free: z.int(),
  metrics: z.record(z.string(), z.number()).default({}),
  resources: WorkerResources.nullable().default(null),
  /** Threads that did not answer for `stuck_after` and were replaced. */
  stuck_threads: z.int().nonnegative().default(0),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** `POST /workers/{name}/poll`: a heartbeat that waits for frames (WRK-10). */
export const Poll = Heartbeat.extend({
  wait_seconds: z.number().min(0).max(30).default(30),
});
export type Poll = z.infer<typeof Poll>;

export const HeartbeatAnswer = z.object({
  server_time: z.string(),
  /** Entries that are not this session's any more: stop them, send nothing for them. */
  drop: z.array(z.object({ execution_id: z.string(), generation: z.int() })),
});
export type HeartbeatAnswer = z.infer<typeof HeartbeatAnswer>;

/**
 * A delta of one execution's log (CKP-1): the i-th event becomes `base_seq + i`. `state` is the one
 * after the last event. RUNNING with `waiting` parks it. Of `waiting` only retry delays are news: the
 * other waits follow from the events.
 */
export const Checkpoint = z.strictObject({
  generation: z.int().positive(),
  base_seq: z.int().nonnegative(),
  state: State,
  events: z.array(NewEvent),
  waiting: z.array(Wait).optional(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

export const CheckpointItem = Checkpoint.extend({ execution_id: z.string() });
export type CheckpointItem = z.infer<typeof CheckpointItem>;

/** What the log holds now: the stored state, never an echo (CKP-4). */
export const CheckpointAccepted = z.object({
  execution_id: z.string(),
  seq: z.int(),
  state: State,
  generation: z.int(),
});
export type CheckpointAccepted = z.infer<typeof CheckpointAccepted>;

export const ItemRefused = z.object({
  execution_id: z.string(),
  error: ErrorBody.shape.error,
});
export type ItemRefused = z.infer<typeof ItemRefused>;

export const CheckpointAnswer = z.union([CheckpointAccepted, ItemRefused]);
export type CheckpointAnswer = z.infer<typeof CheckpointAnswer>;

/** Why a worker gives an execution back. `load_failed` ends it FAILED (LIV-6). */
export const ReleaseReason = z.enum([
  "draining",
  "paused",
  "superseded",
  "overloaded",
  "principal_unavailable",
  "neighbour",
  "runner_lost",
  "stuck",
  "load_failed",
]);
export type ReleaseReason = z.infer<typeof ReleaseReason>;

export const ReleaseItem = z.strictObject({
  execution_id: z.string(),
  generation: z.int().positive(),
  reason: ReleaseReason,
  /** With `load_failed`: why the module or the definition does not load. */
  error: Failure.optional(),
});
export type ReleaseItem = z.infer<typeof ReleaseItem>;

export const ReleaseAnswer = z.union([
  z.object({ execution_id: z.string(), ok: z.literal(true) }),
  ItemRefused,
]);
export type ReleaseAnswer = z.infer<typeof ReleaseAnswer>;

/** One value of `progress()`: live only, never part of the log (PRG-6). */
export const ProgressItem = z.strictObject({
  source_id: z.string(),
  name: z.string(),
  value: AnyJson,
  time: z.string(),
});
export type ProgressItem = z.infer<typeof ProgressItem>;

export const ProgressBatch = z.strictObject({
  generation: z.int().positive(),
  items: z.array(ProgressItem).max(100),
});
export type ProgressBatch = z.infer<typeof ProgressBatch>;

export const ProgressAccepted = z.object({ accepted: z.int(), listening: z.boolean() });
export type ProgressAccepted = z.infer<typeof ProgressAccepted>;

export const EventPage = z.object({ events: z.array(Event), head: z.int() });
export type EventPage = z.infer<typeof EventPage>;
