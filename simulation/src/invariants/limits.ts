import type { Commit, Evidence } from "../evidence.ts";
import { type Counts, countsOf } from "../programs/counts.ts";
import { commitsByExecution } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** As far as the clocks of servers differ that count the same. */
const CLOCKS_MS = 1_000;

/** A place that an execution has, from the commit that takes it to the one that gives it back. */
interface Place {
  readonly taken: Commit;
  readonly back: Commit | undefined;
}

/** I16: no claim takes a place that there is not, and no more begin in a time than may. */
export function limits(evidence: Evidence): readonly Violation[] {
  const byWorkflow = Map.groupBy(commitsByExecution(evidence).values(), (commits) => {
    return commits[0]?.row.workflow ?? "";
  });
  return [...byWorkflow].flatMap(([workflow, executions]) => {
    const counts = countsOf(workflow);
    if (!counts) return [];
    const places = executions.flatMap((commits) => placesOf(commits, counts));
    return [...tooMany(places, counts), ...tooFast(executions, counts)];
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

function tooMany(places: readonly Place[], { most }: Counts): readonly Violation[] {
  return places.flatMap(({ taken }): Violation[] => {
    // What was cancelled is unwound whatever is full.
    if (taken.row.state === "CANCELLING") return [];
    const others = places.filter(
      (one) =>
        one.taken.span.settled < taken.span.began &&
        (one.back === undefined || one.back.span.began > taken.span.settled),
    );
    if (others.length < most) return [];
    const { execution_id, at } = taken;
    const message = `at ${at} it takes a place of ${most}, of which ${others.length} are taken`;
    return [{ invariant: "I16", execution_id, message }];
  });
}

function tooFast(
  executions: readonly (readonly Commit[])[],
  { rate }: Counts,
): readonly Violation[] {
  if (!rate) return [];
  const starts = executions
    .flatMap((commits) => commits.find(({ row }) => row.generation === 1 && row.session) ?? [])
    .filter(({ row }) => row.state !== "CANCELLING")
    .sort((a, b) => a.at - b.at);
  return starts.flatMap(({ execution_id, at }, i): Violation[] => {
    const earlier = starts[i - rate.count];
    if (!earlier || at - earlier.at >= rate.period_ms - CLOCKS_MS) return [];
    const message = `it begins at ${at}, and the one ${rate.count} before it began at ${earlier.at}: no more than ${rate.count} may in ${rate.period_ms} ms`;
    return [{ invariant: "I16", execution_id, message }];
  });
}
