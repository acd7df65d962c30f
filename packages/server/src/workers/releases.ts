import {
  EngineError,
  type ExecutionRow,
  engineFailure,
  formatEventTime,
  handOver,
  type Json,
  type NewEvent,
  patchOf,
  type ReleaseAnswer,
  type ReleaseItem,
  stale,
  unowned,
} from "@engine/contract";
import type { Change } from "@engine/store";
import type { Commits } from "../commits.ts";
import type { Session } from "./session.ts";

/** Takes executions back that a worker cannot go on with (LIV-5, LIV-6). */
export async function release(
  session: Session,
  items: readonly ReleaseItem[],
  { commits, clock }: { commits: Commits; clock: () => number },
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
        if (item.reason === "load_failed") return loadFailed(row, item, clock());
        return { events: [], patch: handOver(row, clock()) };
      });
      return { execution_id, ok: true };
    } catch (error) {
      if (!(error instanceof EngineError) || error.code === "unavailable") throw error;
      return { execution_id, error: error.toBody().error };
    }
  }
}

/** No worker could do better with the same bundle: it ends at once. */
function loadFailed(row: ExecutionRow, { error }: ReleaseItem, now: number): Change {
  const failure = error ?? engineFailure("WorkflowLoadError", "the workflow could not be loaded");
  const event: NewEvent = {
    type: "WORKFLOW_FAILED",
    source_id: row.execution_id,
    name: row.workflow,
    kind: null,
    value: failure as unknown as Json,
    time: formatEventTime(Math.max(now, row.last_time)),
    meta: null,
  };
  return { events: [event], patch: { ...patchOf(row, [event], now), ...unowned(row) } };
}
