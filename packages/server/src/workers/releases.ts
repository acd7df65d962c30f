import {
  engineFailure,
  failExecution,
  handOver,
  type ReleaseAnswer,
  type ReleaseItem,
  type ReleaseReason,
  stale,
} from "@engine/contract";
import type { Commits } from "../commits.ts";
import { isRefusal } from "../refusal.ts";
import type { HandOvers, Lost } from "./hand-over.ts";
import type { Session } from "./session.ts";

/** Reasons for which an execution counts as lost, rather than given back (LIV-5). */
const LOSSES: Readonly<Partial<Record<ReleaseReason, Lost>>> = {
  runner_lost: { reason: "runner_lost" },
  suspect: { reason: "runner_lost", uncounted: true },
  stuck: { reason: "stuck" },
  unready: { reason: "unready", uncounted: true },
};

/** Takes back executions that a worker cannot go on with (LIV-5, LIV-6). */
export async function release(
  session: Session,
  items: readonly ReleaseItem[],
  { commits, handOvers }: { commits: Commits; handOvers: HandOvers },
): Promise<readonly ReleaseAnswer[]> {
  // Noted before the first commit: what comes free must not be assigned to the session again.
  if (items.some(({ reason }) => reason === "draining")) session.isStopping = true;
  if (items.some(({ reason }) => reason === "overloaded")) session.isOverloaded = true;
  return Promise.all(items.map(releaseOne));

  async function releaseOne(item: ReleaseItem): Promise<ReleaseAnswer> {
    const { execution_id, generation, reason } = item;
    try {
      await commits.change(execution_id, (row) => {
        if (row.session !== session.id || row.generation !== generation) throw stale(row);
        const terms = handOvers.terms(LOSSES[reason]);
        if (reason !== "load_failed") return handOver(row, terms);
        // No worker could do better with the same bundle: the execution ends at once.
        const failure = engineFailure("WorkflowLoadError", "the workflow could not be loaded");
        return failExecution(row, item.error ?? failure, terms);
      });
      return { execution_id, ok: true };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { execution_id, error: error.toBody().error };
    }
  }
}
