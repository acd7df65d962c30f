import { expect, test } from "vitest";
import { keptOf, planKept } from "./kept.ts";
import { loadPrograms } from "./load-programs.ts";
import { planOf } from "./plan.ts";
import { simulate } from "./simulate.ts";
import { verdictOn } from "./verdict.ts";

interface Found {
  readonly seed: number;
  readonly keep: string;
  /** What a user would have seen, and why. */
  readonly what: string;
}

/**
 * Runs that showed a bug. They may meet something else since the engine or the generator changed: the
 * tests beside the code that was wrong are what keeps each bug away.
 */
const FOUND: readonly Found[] = [
  {
    seed: 22,
    keep: "rates=store_unknown,disturbances=,operations=0+1+2+3",
    what: "I17 I16 what was claimed in a commit whose answer was lost stayed with a worker that never got it (unsure-claims.test.ts)",
  },
  {
    seed: 379,
    keep: "rates=drop+delay+store_unknown,disturbances=0,operations=2+3+4",
    what: "EXE-23 what a worker had done before its claim was renewed stood in the log before that time (log-times.test.ts)",
  },
  {
    seed: 270,
    keep: "rates=drop+delay+cut+store_slow,disturbances=0+1,operations=4+5+6+7+10+11+14",
    what: "I5 a worker that was just connecting again was refused the bundle of what it had been given, and counted as one that lost it (workers.test.ts)",
  },
  {
    seed: 474,
    keep: "rates=drop+delay+store_slow,disturbances=0,operations=1+3+7,stretch=12299",
    what: "I17 a signal that came while a worker connected made what the worker never got look as if on its way",
  },
];

const programs = await loadPrograms(2);

for (const { seed, keep, what } of FOUND) {
  test(what, async () => {
    const plan = planKept(planOf(seed), keptOf(keep));
    expect(await verdictOn(await simulate(plan, { programs }))).toEqual([]);
  });
}
