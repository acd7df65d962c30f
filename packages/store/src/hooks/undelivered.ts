import { creation, type NewExecution } from "@engine/contract";
import type { Changed } from "../ports/executions.ts";

/** The answer to a creation whose delivery is not as it was judged any more: nothing was written. */
export function undelivered(fresh: NewExecution, at: number): Changed {
  const { row } = creation(fresh, undefined).created;
  return {
    row,
    events: [],
    recorded_at: at,
    others: [],
    unchanged: true,
    undelivered: true,
  };
}
