import type { ClaimReason } from "@engine/contract";
import type { Changed } from "@engine/store";

/** Why an execution was claimed, as the WORKFLOW_CLAIMED just written says. */
export function reasonOf({ row, events }: Changed): ClaimReason {
  const claimed = events.at(-1);
  if (claimed?.type !== "WORKFLOW_CLAIMED") {
    throw new Error(`execution ${row.execution_id} is assigned without a claim`);
  }
  return (claimed.value as { reason: ClaimReason }).reason;
}
