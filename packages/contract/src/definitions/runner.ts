import * as z from "zod";

/** How a worker runs the code of users: on a shared thread, in a process of its own, on its main thread. */
export const Runner = z.enum(["thread", "process", "inline"]);
export type Runner = z.infer<typeof Runner>;

/** What a workflow asks of its runner. */
export const RunnerOptions = z.object({
  /** For the objects of its process, in MiB; the worker's own limit is the upper bound. */
  memory_mb: z.number().optional(),
});
export type RunnerOptions = z.infer<typeof RunnerOptions>;
