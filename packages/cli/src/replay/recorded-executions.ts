/** Executions whose logs are on the server, for `workflow replay`. */
import { EngineError, type ExecutionSummary, type History, type State } from "@engine/contract";
import type { WorkflowRef } from "../arguments/workflow-ref.ts";
import type { ServerCall } from "../server-call.ts";
import type { Replayed } from "./replayed.ts";

const PER_PAGE = 200;

/** Executions of a workflow that the server keeps, the newest first. */
export async function newestExecutions(
  client: ServerCall["client"],
  ref: WorkflowRef,
  { limit, states }: { readonly limit: number; readonly states: readonly State[] | undefined },
): Promise<ExecutionSummary[]> {
  const found: ExecutionSummary[] = [];
  while (found.length < limit) {
    const page = { offset: found.length, limit: Math.min(PER_PAGE, limit - found.length) };
    const query = { ...page, ...(states && { state: [...states] }) };
    const { items } = await client.executions.listOfWorkflow({ params: { ...ref }, query });
    found.push(...items);
    if (items.length < page.limit) break;
  }
  return found;
}

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
  return {
    execution_id,
    namespace,
    workflow,
    version,
    state,
    result: "unverifiable",
    reason,
  };
}
