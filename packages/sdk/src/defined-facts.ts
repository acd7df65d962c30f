import { type NewExecution, parseDuration } from "@engine/contract";
import type { AnyWorkflow } from "./workflow.ts";

/** The facts of a workflow's definition that its executions go by. */
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
