import type { History } from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import type { ReplayVerdict } from "@engine/sdk/node";

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
