import {
  EngineError,
  engineFailure,
  type Failure,
  failExecution,
  handOver,
  type ReleaseAnswer,
  type ReleaseItem,
  stale,
} from "@engine/contract";
import type { Commits } from "../commits.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Session } from "./session.ts";

/** Takes executions back that a worker cannot go on with (LIV-5, LIV-6). */
export async function release(
  session: Session,
  items: readonly ReleaseItem[],
  { commits, ports }: { commits: Commits; ports: Pick<EnginePorts, "clock" | "config"> },
): Promise<readonly ReleaseAnswer[]> {
  // Before the first commit: what comes free must not be assigned to it again.
  if (items.some(({ reason }) => reason === "draining")) session.isStopping = true;
  if (items.some(({ reason }) => reason === "overloaded")) session.isOverloaded = true;
  return Promise.all(items.map(releaseOne));

  async function releaseOne(item: ReleaseItem): Promise<ReleaseAnswer> {
    const { execution_id, generation } = item;
    try {
      await commits.change(execution_id, (row) => {
        if (row.session !== session.id || row.generation !== generation) throw stale(row);
        const now = ports.clock();
        // No worker could do better with the same bundle: it ends at once.
        if (item.reason === "load_failed") return failExecution(row, loadFailure(item), now);
        return handOver(row, now, ports.config.executions.cancel_timeout * 1000);
      });
      return { execution_id, ok: true };
    } catch (error) {
      if (!(error instanceof EngineError) || error.code === "unavailable") throw error;
      return { execution_id, error: error.toBody().error };
    }
  }
}

function loadFailure({ error }: ReleaseItem): Failure {
  return error ?? engineFailure("WorkflowLoadError", "the workflow could not be loaded");
}
