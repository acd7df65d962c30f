import { type NewExecution, parseDuration } from "@engine/contract";
import type { AnyWorkflow } from "./workflow.ts";

/** What an execution has of the definition of its workflow. */
export function definedFacts({
  namespace,
  name,
  options: { timeout, durability },
}: AnyWorkflow): Pick<NewExecution, "namespace" | "workflow" | "timeout_ms" | "transient"> {
  return {
    namespace,
    workflow: name,
    timeout_ms: timeout === undefined ? null : (parseDuration(timeout) ?? null),
    transient: durability === "transient",
  };
}
