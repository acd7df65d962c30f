import type { Event, ExecutionRow } from "@engine/contract";

/** What a change has written of one execution. */
export interface Outcome {
  readonly row: ExecutionRow;
  readonly events: readonly Event[];
}
