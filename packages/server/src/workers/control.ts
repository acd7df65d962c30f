import type { WorkerActivity, WorkerFrame } from "@engine/contract";

/** What operators have decided that a worker is to do. */
export interface Decision {
  readonly worker: string;
  readonly state: WorkerActivity;
  /** Of a drain: how long it may take. */
  readonly timeout_seconds?: number | undefined;
}

const COMMANDS = { active: "resume", paused: "pause", draining: "drain" } as const;

/** The frame that tells a worker what is desired of it. */
export function control(
  desired: WorkerActivity,
  timeout_seconds?: number,
): Extract<WorkerFrame, { event: "control" }> {
  const timeout = timeout_seconds === undefined ? {} : { timeout_seconds };
  return { event: "control", data: { command: COMMANDS[desired], ...timeout } };
}
