/** Who had a place under which limit, and from when until when. */
import type { ExecutionRow } from "@engine/contract";
import type { Commit, Evidence } from "../evidence.ts";
import { type Counts, countsOf } from "../programs/counts.ts";
import { inputOf } from "./inputs.ts";
import { commitsByExecution } from "./recorded-calls.ts";

/** A place that an execution has, from the commit that takes it to the one that gives it back. */
export interface Place {
  readonly taken: Commit;
  readonly back: Commit | undefined;
}

/** A limit, and all that is under it. */
export interface Bucket {
  readonly counts: Counts;
  /** Of each execution, in order. */
  readonly executions: readonly (readonly Commit[])[];
  readonly places: readonly Place[];
}

export function countsOfRow(
  { execution_id, workflow }: Pick<ExecutionRow, "execution_id" | "workflow">,
  evidence: Evidence,
): readonly Counts[] {
  return countsOf(workflow, inputOf(execution_id, evidence));
}

export function bucketsOf(evidence: Evidence): readonly Bucket[] {
  const buckets = new Map<string, { counts: Counts; executions: (readonly Commit[])[] }>();
  for (const [execution_id, commits] of commitsByExecution(evidence)) {
    const workflow = commits[0]?.row.workflow ?? "";
    for (const counts of countsOfRow({ execution_id, workflow }, evidence)) {
      const known = buckets.get(counts.bucket);
      if (known) known.executions.push(commits);
      else buckets.set(counts.bucket, { counts, executions: [commits] });
    }
  }
  return [...buckets.values()].map(({ counts, executions }) => {
    return { counts, executions, places: executions.flatMap((one) => placesOf(one, counts)) };
  });
}

function placesOf(commits: readonly Commit[], { isKept }: Counts): readonly Place[] {
  const places: Place[] = [];
  let taken: Commit | undefined;
  for (const commit of commits) {
    const { row } = commit;
    const isBack = isKept ? row.finished_at !== null : row.session === null;
    if (taken && isBack) places.push({ taken, back: commit });
    if (isBack) taken = undefined;
    else if (row.session !== null) taken ??= commit;
  }
  return taken ? [...places, { taken, back: undefined }] : places;
}

/** Places that were taken before a commit began and given back behind it. */
export function takenDuring({ span }: Commit, places: readonly Place[]): readonly Place[] {
  return places.filter(
    ({ taken, back }) =>
      taken.span.settled < span.began && (back === undefined || back.span.began > span.settled),
  );
}
