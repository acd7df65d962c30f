import type { State } from "@engine/contract";
import type { Paint, Role } from "./paint.ts";

const MARKS = {
  CREATED: ["○", "muted"],
  CLAIMED: ["◔", "muted"],
  RUNNING: ["●", "running"],
  PAUSED: ["‖", "needs_you"],
  RESUMING: ["↻", "muted"],
  CANCELLING: ["◌", "muted"],
  CANCELLED: ["⊘", "muted"],
  COMPLETED: ["✓", "running"],
  FAILED: ["✗", "failed"],
} as const satisfies Record<State, readonly [string, Role]>;

/** A state as glyph and word: never colour alone. */
export function stateMark(state: State, paint: Paint): string {
  const [glyph, role] = MARKS[state];
  return paint(role, `${glyph} ${state.toLowerCase()}`);
}
