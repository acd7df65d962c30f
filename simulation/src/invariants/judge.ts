/**
 * All invariants of design/reliability.md that the engine has something to keep by today. Not among
 * them: of I20 the approvals, which come with them. Of I20 the principals of executions are judged.
 */
import type { Evidence } from "../evidence.ts";
import { acknowledgedStarts } from "./acknowledged-starts.ts";
import { attributableRuns } from "./attributable-runs.ts";
import { cancels } from "./cancels.ts";
import { capacity } from "./capacity.ts";
import { consumedOnce } from "./consumed-once.ts";
import { denseLogs } from "./dense-logs.ts";
import type { Excuse, Excused, ExcuseName } from "./excuses.ts";
import { hiddenValues } from "./hidden-values.ts";
import { hookDeliveries } from "./hook-deliveries.ts";
import { hookStarts } from "./hook-starts.ts";
import { limits } from "./limits.ts";
import { liveValues } from "./live-values.ts";
import { noDivergence } from "./no-divergence.ts";
import { oneEnd } from "./one-end.ts";
import { pinnedVersions } from "./pinned-versions.ts";
import { placement } from "./placement.ts";
import { possibleOutputs } from "./possible-outputs.ts";
import { progressToRest } from "./progress-to-rest.ts";
import { racingResumes } from "./racing-resumes.ts";
import { recordedOnce } from "./recorded-once.ts";
import { refusedStarts } from "./refused-starts.ts";
import { replayedLogs } from "./replayed-logs.ts";
import { replaysOf } from "./replays.ts";
import { resolutions } from "./resolutions.ts";
import { resting } from "./resting.ts";
import { retained, scheduleTicks } from "./schedule-ticks.ts";
import { serviceChanges } from "./service-changes.ts";
import { singleWriter } from "./single-writer.ts";
import { streamOrder } from "./stream-order.ts";
import { timers } from "./timers.ts";
import { toldTraces } from "./told-traces.ts";
import { usablePrincipals } from "./usable-principals.ts";
import type { Invariant, Violation } from "./violation.ts";

const INVARIANTS: Readonly<Record<string, Invariant>> = {
  ...{ acknowledgedStarts, oneEnd, denseLogs, recordedOnce, attributableRuns, singleWriter },
  ...{
    noDivergence,
    liveValues,
    timers,
    consumedOnce,
    racingResumes,
    cancels,
    placement,
    resolutions,
  },
  ...{ capacity, progressToRest, resting, streamOrder, scheduleTicks, retained },
  ...{ pinnedVersions, possibleOutputs, hiddenValues, usablePrincipals, serviceChanges },
  ...{ limits, refusedStarts, hookDeliveries, hookStarts },
};

/** The names of all that judge. */
export const JUDGES: readonly string[] = [
  ...Object.keys(INVARIANTS),
  ...["replayedLogs", "toldTraces"],
];

/** A violation, and who found it. */
export interface Finding extends Violation {
  readonly judge: string;
}

export interface Judgement {
  readonly findings: readonly Finding[];
  readonly excused: Excused;
}

/**
 * Judges a run, in which nothing may run any more: replays take the global that programs report to for
 * themselves.
 */
export async function judge(evidence: Evidence): Promise<Judgement> {
  const excused = new Map<ExcuseName, number>();
  const excuse: Excuse = (name) => {
    excused.set(name, (excused.get(name) ?? 0) + 1);
    return true;
  };
  const replays = await replaysOf(evidence);
  const found: Readonly<Record<string, readonly Violation[]>> = {
    ...Object.fromEntries(
      Object.entries(INVARIANTS).map(([name, invariant]) => [name, invariant(evidence, excuse)]),
    ),
    replayedLogs: await replayedLogs(evidence, replays, excuse),
    toldTraces: toldTraces(evidence, replays, excuse),
  };
  const findings = Object.entries(found).flatMap(([name, violations]) =>
    violations.map((violation) => ({ judge: name, ...violation })),
  );
  return { findings, excused };
}
