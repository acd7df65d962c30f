import type { WorkerStatus } from "@engine/contract";
import type { Paint, Role } from "./paint.ts";

const MARKS = {
  online: ["●", "running"],
  unhealthy: ["!", "failed"],
  paused: ["‖", "needs_you"],
  draining: ["◌", "muted"],
  disconnected: ["◔", "needs_you"],
  offline: ["○", "muted"],
} as const satisfies Record<WorkerStatus, readonly [string, Role]>;

/** How a worker is, as glyph and word: never colour alone. */
export function workerMark(status: WorkerStatus, paint: Paint): string {
  const [glyph, role] = MARKS[status];
  return paint(role, `${glyph} ${status}`);
}
