import { createHash } from "node:crypto";
import type { LimitedExecution, NewExecution, PlacementInputs } from "@engine/contract";
import { type KeyRing, sealAlike } from "@engine/store";

/** What the keys of an execution's limits read, and how they are kept. */
export function limitedExecution(
  { namespace, workflow }: Pick<NewExecution, "namespace" | "workflow">,
  inputs: PlacementInputs,
  ring: KeyRing | undefined,
): LimitedExecution {
  return {
    workflow: `${namespace}/${workflow}`,
    inputs,
    hide: (text) => (ring ? sealAlike(ring, text) : text),
    digest: (text) => createHash("sha256").update(text).digest("base64url"),
  };
}
