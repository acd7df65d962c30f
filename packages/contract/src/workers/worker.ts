import * as z from "zod";
import { Name } from "../definitions/catalog.ts";
import { Runner } from "../definitions/runner.ts";
import {
  ATTRIBUTE_KEY,
  KEY_LENGTH,
  SERVICE_NAME,
  SERVICE_NAME_LENGTH,
} from "../routing/attribute-keys.ts";
import { WorkerMetrics } from "./worker-metrics.ts";

/**
 * The protocol's number: a worker and a server that differ by more than one do not talk (WRK-2). 1 knew
 * nothing of what an execution's principal may do.
 */
export const WORKER_PROTOCOL = 2;

/** Header that names the session on every worker route but `register` (WRK-3). */
export const SESSION_HEADER = "x-engine-worker-session";

export const PlainText: z.ZodString = z
  .string()
  .max(256)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
  .regex(/^[^\u0000-\u001f\u007f]*$/, "must not contain control characters");

/** What a worker says it can do: at most 64 keys of up to 128 characters, values of 1 to 256. */
export const Labels = z
  .record(
    z.string().max(KEY_LENGTH.label).regex(ATTRIBUTE_KEY, "must be a label key"),
    PlainText.min(1),
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

export const ServiceName: z.ZodString = z
  .string()
  .max(SERVICE_NAME_LENGTH)
  .regex(SERVICE_NAME, "must be lower-case words joined by hyphens");

/** How frames reach a worker: down a stream, or as answers to its polls (WRK-10). */
export const DispatchMode = z.enum(["event", "poll"]);
export type DispatchMode = z.infer<typeof DispatchMode>;

/** A worker's name. Some are taken: by local runs, and by a fixed path. */
export const WorkerName: z.ZodString = Name.refine(
  (name) => name !== "local" && name !== "join-tokens",
  "is a reserved name",
);

/** `POST /workers/register`: one process life under a name (WRK-1, WRK-2). */
export const WorkerRegistration = z.strictObject({
  name: WorkerName,
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
  /** A worker that tells no resources has room for every request (RES-2). */
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

/** With this a worker proves who it is from now on (AUTH-51); the server keeps only its hash. */
export const WorkerCredential = z.object({
  token: z.string(),
  expires_at: z.string(),
});
export type WorkerCredential = z.infer<typeof WorkerCredential>;

/** What registration answers; the session lasts until the worker disconnects or is lost. */
export const WorkerRegistered = z.object({
  worker: z.object({ name: z.string(), labels: Labels, slots: z.int() }),
  /** The server's number, whatever the worker's is; a server of protocol 1 did not say it. */
  protocol: z.int().default(1),
  /** A secret: the server keeps only its hash. */
  session: z.string(),
  /** How the server would like it to get its frames; its own setting wins. */
  dispatch: DispatchMode,
  heartbeat_seconds: z.number(),
  executions: ExecutionLimits,
  /** Null with authorization off, and from a server that did not say it. */
  credential: WorkerCredential.nullable().default(null),
});
export type WorkerRegistered = z.infer<typeof WorkerRegistered>;

/** An execution a worker holds: how far it knows the log, under which generation. */
export const Holding = z.object({
  execution_id: z.string(),
  generation: z.int().positive(),
  seq: z.int().nonnegative(),
});
export type Holding = z.infer<typeof Holding>;

/** `POST /workers/{name}/connect`: what the worker holds when it opens its stream. */
export const Connect = z.strictObject({ running: z.array(Holding) });

/** `draining`: nothing new, and it will leave; `paused`: nothing new until it is resumed. */
export const WorkerActivity = z.enum(["active", "paused", "draining"]);
export type WorkerActivity = z.infer<typeof WorkerActivity>;

/** What a worker says of itself each interval, and at once when status or health change (LIV-1). */
export const Heartbeat = z.strictObject({
  status: WorkerActivity.default("active"),
  /** False while its main loop cannot keep up (RUN-5), or its machine lets nothing begin there. */
  healthy: z.boolean().default(true),
  running: z.array(Holding),
  slots_free: z.int(),
  metrics: WorkerMetrics.default({}),
  resources: WorkerResources.nullable().default(null),
  /** Threads that did not answer for `stuck_after` and were replaced. */
  stuck_threads: z.int().nonnegative().default(0),
  /** By how much its clock is ahead of the server's; negative: behind. Null before it was measured. */
  clock_offset_ms: z.int().nullable().default(null),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** `POST /workers/{name}/poll`: a heartbeat that waits for frames (WRK-10). */
export const Poll = Heartbeat.extend({
  wait_seconds: z.number().min(0).max(30).default(30),
});
export type Poll = z.infer<typeof Poll>;

/** What a server says to a heartbeat. */
export const HeartbeatAnswer = z.object({
  server_time: z.string(),
  /** Entries that are not this session's any more: stop them, send nothing for them. */
  drop: z.array(z.object({ execution_id: z.string(), generation: z.int() })),
});
export type HeartbeatAnswer = z.infer<typeof HeartbeatAnswer>;
