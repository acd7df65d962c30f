import * as z from "zod";
import { ProgressItem } from "./worker.ts";

/** Data of a `task.progress` frame: the event structure with a type that is never stored. */
export const TaskProgress = ProgressItem.extend({ type: z.literal("TASK_PROGRESS") });
export type TaskProgress = z.infer<typeof TaskProgress>;

/** Values an execution may have waiting on the worker; a new one beyond this is dropped (PRG-3). */
export const PROGRESS_QUEUE_LIMIT = 1000;
/** Largest progress value, as JSON. */
export const PROGRESS_VALUE_BYTES = 64 * 1024;
