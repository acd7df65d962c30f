import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";

/** One value of `progress()`: live only, never part of the log (PRG-6). */
export const ProgressItem = z.strictObject({
  source_id: z.string(),
  name: z.string(),
  value: AnyJson,
  time: z.string(),
});
export type ProgressItem = z.infer<typeof ProgressItem>;

/** `POST /workers/{name}/progress/{execution_id}`: values in the order in which they came. */
export const ProgressBatch = z.strictObject({
  generation: z.int().positive(),
  items: z.array(ProgressItem).max(100),
});
export type ProgressBatch = z.infer<typeof ProgressBatch>;

/** `listening` false: nobody watches any more, so none need be sent. */
export const ProgressAccepted = z.object({ accepted: z.int(), listening: z.boolean() });
export type ProgressAccepted = z.infer<typeof ProgressAccepted>;

/** Data of a `task.progress` frame: the event structure with a type that is never stored. */
export const TaskProgress = ProgressItem.extend({ type: z.literal("TASK_PROGRESS") });
export type TaskProgress = z.infer<typeof TaskProgress>;

/** Values an execution may have waiting on the worker; a new one beyond this is dropped (PRG-3). */
export const PROGRESS_QUEUE_LIMIT = 1000;
/** Largest progress value, as JSON. */
export const PROGRESS_VALUE_BYTES = 64 * 1024;
