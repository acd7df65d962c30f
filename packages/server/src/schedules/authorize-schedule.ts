import type { ScheduleRow } from "@engine/contract";

/**
 * Whether a schedule's account may run its workflow: asked when the schedule is written and again at
 * each fire.
 *
 * @returns The principal its executions are recorded under.
 * @throws EngineError when it may not.
 */
export type AuthorizeSchedule = (
  schedule: Pick<ScheduleRow, "name" | "namespace" | "workflow" | "version" | "run_as">,
) => string | null | Promise<string | null>;
