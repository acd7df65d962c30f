import * as z from "zod";
import { Name } from "../definitions/catalog.ts";
import { ExecutionError, State } from "../executions/execution.ts";
import { RoutingInputField } from "../routing/routing-input.ts";
import { AnyJson } from "../values/any-json.ts";
import { DEFAULT_NAMESPACE } from "../values/name.ts";
import { CatchUp, Overlap, ScheduleSpec } from "./schedule-spec.ts";

/** Unique in the engine, never changed: it is the schedule's address (EXE-72). */
const ScheduleName = z
  .string()
  .regex(
    /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,256}$/,
    "must be 1 to 257 letters, digits, '_', '.' or '-', beginning with a letter, a digit or '_'",
  );

/**
 * `completed` has no further instant; `disabled` was given up by the engine, `last_error` says
 * why.
 */
export const ScheduleStatus = z.enum(["active", "paused", "completed", "disabled"]);
export type ScheduleStatus = z.infer<typeof ScheduleStatus>;

/** Who made it: a request, or the `schedule` option of a workflow, which then owns it. */
export const ScheduleSource = z.enum(["api", "code"]);
export type ScheduleSource = z.infer<typeof ScheduleSource>;

const Version = z.int().positive().nullable();

/** `POST /schedules`: the fields that can be written. */
export const NewSchedule = z.strictObject({
  name: ScheduleName,
  namespace: Name.default(DEFAULT_NAMESPACE).describe("of the workflow"),
  workflow: Name,
  version: Version.default(null).describe("null: the latest at each fire"),
  description: z.string().max(2000).nullable().default(null),
  spec: ScheduleSpec,
  overlap: Overlap.default("skip").describe("while an execution of the schedule has not ended"),
  catch_up: CatchUp.default("one").describe("of fires that were missed"),
  input: AnyJson.default(null),
  routing_input: RoutingInputField.default({}).describe("written, never read back"),
  run_as: z.string().min(1).nullable().default(null).describe("account the executions run as"),
});
export type NewSchedule = z.infer<typeof NewSchedule>;

/** `PUT /schedules/{name}`: what is left out stays. */
export const ScheduleChanges = z.strictObject({
  version: Version.optional(),
  description: z.string().max(2000).nullable().optional(),
  spec: ScheduleSpec.optional(),
  overlap: Overlap.optional(),
  catch_up: CatchUp.optional(),
  input: AnyJson.optional(),
  routing_input: RoutingInputField.optional().describe("`{}` clears it"),
  run_as: z.string().min(1).nullable().optional(),
});
export type ScheduleChanges = z.infer<typeof ScheduleChanges>;

/** A schedule as reads return it (EXE-72). */
export const Schedule = z.object({
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  workflow: z.string(),
  version: z.int().positive().nullable(),
  description: z.string().nullable(),
  spec: ScheduleSpec,
  overlap: Overlap,
  catch_up: CatchUp,
  input: AnyJson,
  routing_input_set: z.boolean(),
  run_as: z.string().nullable(),
  status: ScheduleStatus,
  source: ScheduleSource,
  /** Null unless it is active. */
  next_run_at: z.string().nullable(),
  /** The next five, `next_run_at` first. */
  upcoming: z.array(z.string()),
  last_run_at: z.string().nullable(),
  last_execution_id: z.string().nullable(),
  run_count: z.int(),
  /** Starts that failed; an execution that failed was started. */
  failure_count: z.int(),
  consecutive_failures: z.int(),
  skip_count: z.int(),
  last_skipped_at: z.string().nullable(),
  /** Why the last start failed, or why it was disabled. */
  last_error: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type Schedule = z.infer<typeof Schedule>;

/** One execution of a schedule (EXE-77). */
export const ScheduleRun = z.object({
  execution_id: z.string(),
  state: State,
  /** The instant that was due; null when it was triggered by hand. */
  scheduled_for: z.string().nullable(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  error: ExecutionError.nullable(),
});
export type ScheduleRun = z.infer<typeof ScheduleRun>;
