import * as z from "zod";

/** What the principal that an execution runs as may do in it (AUTH-35). */
export const TaskAuthz = z.object({
  /** False: nobody's rights are checked. */
  enforced: z.boolean(),
  /** Names of the tasks that it may execute; `*` among them: every task. */
  task_grants: z.array(z.string()),
});
export type TaskAuthz = z.infer<typeof TaskAuthz>;

/** Of an execution whose tasks nobody's rights are checked for: authorization is off. */
export const NOT_ENFORCED: TaskAuthz = Object.freeze({ enforced: false, task_grants: ["*"] });

/** A token that acts as the principal an execution runs as (AUTH-39). A secret: never stored or shown. */
export const ExecutionToken = z.object({ token: z.string(), expires_at: z.string() });
export type ExecutionToken = z.infer<typeof ExecutionToken>;
