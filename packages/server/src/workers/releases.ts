import {
  EngineError,
  engineFailure,
  type Failure,
  failExecution,
  handOver,
  type ReleaseAnswer,
  type ReleaseItem,
  type ReleaseReason,
  stale,
} from "@engine/contract";
import type { Commits } from "../commits.ts";
import type { HandOvers, Lost } from "./hand-over.ts";
import type { Session } from "./session.ts";

/** Reasons under which the worker lost it rather than gave it back (LIV-5). */
const LOSSES: Readonly<Partial<Record<ReleaseReason, Lost>>> = {
  runner_lost: { reason: "runner_lost" },
  suspect: { reason: "runner_lost", uncounted: true },
  stuck: { reason: "stuck" },
  unready: { reason: "unready", uncounted: true },
};

/** Takes executions back that a worker cannot go on with (LIV-5, LIV-6). */
export async function release(
  session: Session,
  items: readonly ReleaseItem[],
  { commits, handOvers }: { commits: Commits; handOvers: HandOvers },
): Promise<readonly ReleaseAnswer[]> {
  // Before the first commit: what comes free must not be assigned to it again.
  if (items.some(({ reason }) => reason === "draining")) session.isStopping = true;
  if (items.some(({ reason }) => reason === "overloaded")) session.isOverloaded = true;
  return Promise.all(items.map(releaseOne));

  async function releaseOne(item: ReleaseItem): Promise<ReleaseAnswer> {
    const { execution_id, generation, reason } = item;
    try {
      await commits.change(execution_id, (row) => {
        if (row.session !== session.id || row.generation !== generation) throw stale(row);
        const terms = handOvers.terms(LOSSES[reason]);
        // No worker could do better with the same bundle: it ends at once.
        if (reason === "load_failed") return failExecution(row, loadFailure(item), terms);
        return handOver(row, terms);
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
