import type { NewEvent } from "@engine/contract";

/** Something that takes one step of each of its executions in one commit. */
export interface Steps {
  takeAll(): Promise<void>;
  /** How many events the log of each execution holds: proof that the steps were taken. */
  heads(): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** The events of one sequential step: a task ends and the next one starts. */
export function stepEvents(n: number): NewEvent[] {
  const time = "2025-01-01 00:00:00.000";
  const call = { name: "step", kind: null, time, value: n };
  return [
    { ...call, type: "TASK_COMPLETED", source_id: `step~${n}`, meta: { attempts: 1 } },
    { ...call, type: "TASK_STARTED", source_id: `step~${n + 1}`, meta: null },
  ];
}
