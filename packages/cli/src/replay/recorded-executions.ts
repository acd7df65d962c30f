/** Executions whose logs are on the server, for `workflow replay`. */
import { EngineError, type ExecutionSummary, type History } from "@engine/contract";
import type { ServerCall } from "../server-call.ts";
import type { Replayed } from "./replayed.ts";

/** Undefined when retention has removed it since it was listed. */
export async function historyOf(
  client: ServerCall["client"],
  id: string,
): Promise<History | undefined> {
  try {
    return await client.executions.history({ params: { id } });
  } catch (error) {
    if (error instanceof EngineError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** The result for an execution that is gone: the others are replayed all the same. */
export function removed(execution: ExecutionSummary): Replayed {
  const { execution_id, namespace, workflow, version, state } = execution;
  const reason = "it was removed from the server before it could be read";
  return { execution_id, namespace, workflow, version, state, result: "unverifiable", reason };
}
