/**
 * All invariants of design/reliability.md that the engine has something to keep by today. Not among
 * them: I18 to I21 (hooks, principals, approvals, secrets), and of I15 the inputs of selectors and of
 * I23 the deliveries, which come with them.
 */
import type { Evidence } from "../evidence.ts";
import { acknowledgedStarts } from "./acknowledged-starts.ts";
import { attributableRuns } from "./attributable-runs.ts";
import { cancels } from "./cancels.ts";
import { capacity } from "./capacity.ts";
import { consumedOnce } from "./consumed-once.ts";
import { denseLogs } from "./dense-logs.ts";
import { liveValues } from "./live-values.ts";
import { noDivergence } from "./no-divergence.ts";
import { oneEnd } from "./one-end.ts";
import { pinnedVersions } from "./pinned-versions.ts";
import { placement } from "./placement.ts";
import { possibleOutputs } from "./possible-outputs.ts";
import { progressToRest } from "./progress-to-rest.ts";
import { racingResumes } from "./racing-resumes.ts";
import { recordedOnce } from "./recorded-once.ts";
import { replayedLogs } from "./replayed-logs.ts";
import { retained, scheduleTicks } from "./schedule-ticks.ts";
import { singleWriter } from "./single-writer.ts";
import { streamOrder } from "./stream-order.ts";
import { timers } from "./timers.ts";
import type { Invariant, Violation } from "./violation.ts";

const INVARIANTS: readonly Invariant[] = [
  ...[acknowledgedStarts, oneEnd, denseLogs, recordedOnce, attributableRuns, singleWriter],
  ...[noDivergence, liveValues, timers, consumedOnce, racingResumes, cancels, placement],
  ...[capacity, progressToRest, streamOrder, scheduleTicks, retained, pinnedVersions],
  possibleOutputs,
];

/**
 * Judges a run, in which nothing may run any more: the replays of I7 take the global that programs
 * report to for themselves.
 */
export async function judge(evidence: Evidence): Promise<readonly Violation[]> {
  const violations = INVARIANTS.flatMap((invariant) => invariant(evidence));
  return [...violations, ...(await replayedLogs(evidence))];
}
