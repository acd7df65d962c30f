import type { Claimant } from "@engine/contract";
import type { LocalWorld } from "./local-parts.ts";

/** Who a local run is when it takes an execution: `worker` of its WORKFLOW_CLAIMED (EXE-13). */
export function localClaimant({ session, clock }: Pick<LocalWorld, "session" | "clock">): Claimant {
  return { worker: "local", session, now: clock() };
}
