import type { Changed, Decide } from "@engine/store";

export interface ChangeOptions {
  readonly above?: number;
  /** `seq` up to which the execution's copy knows its log once the change is made. */
  readonly told?: number;
}

/** Changes an execution; whatever that does to executions of this process reaches them. */
export type ChangeExecution = (
  execution_id: string,
  decide: Decide,
  options?: ChangeOptions,
) => Promise<Changed>;
