import { EngineError, type ExecutionSummary, type History } from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import type { ReplayVerdict } from "@engine/sdk/node";
import type { ServerCall } from "../server-call.ts";

/** What became of one recorded execution on the code that was tried. */
export type Replayed = ReplayVerdict &
  Pick<History["execution"], "execution_id" | "namespace" | "workflow" | "version" | "state">;

/** Replays one history on code. Nothing that is recorded runs again, and nothing is written. */
export async function replayOn(workflow: AnyWorkflow, history: History): Promise<Replayed> {
  // The engine's own parts are loaded here, so that `engine --help` is quick.
  const { replayHistory } = await import("@engine/sdk/node");
  const { execution_id, namespace, workflow: name, version, state } = history.execution;
  const verdict = await replayHistory(workflow, history);
  return { execution_id, namespace, workflow: name, version, state, ...verdict };
}

/** The same for an execution whose log is on the server, unless retention has removed it meanwhile. */
export async function replayRecorded(
  client: ServerCall["client"],
  workflow: AnyWorkflow,
  execution: ExecutionSummary,
): Promise<Replayed> {
  const { execution_id, namespace, workflow: name, version, state } = execution;
  const history = await historyOf(client, execution_id);
  if (history) return replayOn(workflow, history);
  const reason = "it was removed from the server before it could be read";
  const about = { execution_id, namespace, workflow: name, version, state };
  return { ...about, result: "unverifiable", reason };
}

/** Undefined when retention has removed the execution since it was listed. */
async function historyOf(client: ServerCall["client"], id: string): Promise<History | undefined> {
  try {
    return await client.executions.history({ params: { id } });
  } catch (error) {
    if (error instanceof EngineError && error.code === "not_found") return undefined;
    throw error;
  }
}
