import type { WorkerActivity, WorkerFrame } from "@engine/contract";

/** A decision of operators about a worker. */
export interface Decision {
  readonly worker: string;
  readonly state: WorkerActivity;
  /** How long a drain may take. */
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
