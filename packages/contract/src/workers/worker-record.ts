import * as z from "zod";
import { Runner } from "../definitions/runner.ts";
import { DispatchMode, WorkerActivity, WorkerPackage, WorkerResources } from "./worker.ts";

/**
 * How a worker is (WMD-7), the first of these that applies: `offline` has no session, or lost it;
 * `disconnected` may come back within its grace; `draining` and `paused` get no work, as operators or
 * the worker itself want it; `unhealthy` cannot keep up; `online` takes work.
 */
export const WorkerStatus = z.enum([
  "offline",
  "disconnected",
  "draining",
  "paused",
  "unhealthy",
  "online",
]);
export type WorkerStatus = z.infer<typeof WorkerStatus>;

/** What executions have reserved of a worker: cores, bytes, devices (RES-2). */
export const ReservedResources = z.object({
  cpu: z.number(),
  memory: z.number(),
  disk: z.number(),
  gpu: z.number(),
});
export type ReservedResources = z.infer<typeof ReservedResources>;

/** A worker as listings show it, equal on every server (WMD-7). Of an offline one: its last session. */
export const WorkerRecord = z.object({
  name: z.string(),
  status: WorkerStatus,
  /** What operators want of it; holds across its restarts. */
  desired_state: WorkerActivity,
  healthy: z.boolean(),
  /** Its own and, of each service that it offers and was granted, `engine.service.<name>`. */
  labels: z.record(z.string(), z.string()),
  /** As operators set it; no worker writes it. */
  metadata: z.record(z.string(), z.union([z.string(), z.number()])),
  services: z.object({ offered: z.array(z.string()), granted: z.array(z.string()) }),
  runners: z.array(Runner),
  default_runner: Runner.nullable(),
  /** Executions at a time; 0 = unlimited. */
  slots: z.int(),
  /** Executions it owns. */
  load: z.int(),
  /** Null = unlimited. */
  slots_free: z.int().nullable(),
  /** As it reported last; null when it did not. */
  resources: WorkerResources.nullable(),
  reserved: ReservedResources,
  packages: z.array(WorkerPackage),
  metrics: z.record(z.string(), z.number()),
  /** Threads that hung and were replaced. */
  stuck_threads: z.int(),
  /** By how much its clock is ahead of the server's; negative: behind. Null when it did not say. */
  clock_offset_ms: z.int().nullable(),
  runtime: z.object({ os: z.string(), arch: z.string(), node: z.string() }).nullable(),
  engine_version: z.string().nullable(),
  host: z.string().nullable(),
  pid: z.int().nullable(),
  dispatch: DispatchMode.nullable(),
  registered_at: z.string(),
  connected_at: z.string().nullable(),
  last_seen_at: z.string().nullable(),
});
export type WorkerRecord = z.infer<typeof WorkerRecord>;

/** One worker by itself: with what it runs, at most 100 ids. */
export const DetailedWorkerRecord = WorkerRecord.extend({ executions: z.array(z.string()) });
export type DetailedWorkerRecord = z.infer<typeof DetailedWorkerRecord>;
