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
    keep: "rates=store_unknown,disturbances=,operations=2,stretch=3234",
    what: "I17 I16 what was claimed in a commit whose answer was lost stayed with a worker that never got it (unsure-claims.test.ts)",
  },
  {
    seed: 44,
    keep: "rates=store_slow,disturbances=2,operations=4+6+7+8+9+10",
    what: "I17 a pause that was asked for while a slow checkpoint was on its way was never opened (linger.test.ts)",
  },
];

const programs = await loadPrograms(2);

for (const { seed, keep, what } of FOUND) {
  test(what, async () => {
    const plan = planKept(planOf(seed), keptOf(keep));
    expect(await verdictOn(await simulate(plan, { programs }))).toEqual([]);
  });
}
