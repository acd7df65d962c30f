import type { Heartbeat, WorkerActivity, WorkerFrame } from "@engine/contract";

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

/** What a worker is told that says it does something else than is desired; one that ends goes on ending. */
export function correction(
  desired: WorkerActivity,
  { status }: Pick<Heartbeat, "status">,
): ReturnType<typeof control> | undefined {
  return status === desired || status === "draining" ? undefined : control(desired);
}
