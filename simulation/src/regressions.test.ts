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
  {
    seed: 6456,
    keep: "rates=delay+cut+store_slow,disturbances=0+1+2,operations=1+2+3+4+5,stretch=9821",
    what: "I5 a cancel ran a rollback beside itself that a timeout had begun (cancel.test.ts)",
  },
  {
    seed: 10379,
    keep: "rates=drop+duplicate+delay,disturbances=0+1+3,operations=0+1+2+3+4+5+6+7+8+9+12+13+15+16,stretch=6921",
    what: "I13 a fallback that a finished body had left behind was run again in a cancelled execution (misuse.test.ts)",
  },
  {
    seed: 1018,
    keep: "rates=cut+store_slow,disturbances=0+1+2,operations=0+1+2+3+4+5+6+8+9+10,stretch=24580",
    what: "I9 the clock at the start of a body was another in a replay when a signal had come first (log-times.test.ts)",
  },
  {
    seed: 10921,
    keep: "rates=duplicate+delay+store_slow,disturbances=0+1+2,operations=0+3+4+5,stretch=17053",
    what: "I16 a worker whose poll crossed the loss of its session was given more than it has slots for (polling.test.ts)",
  },
  {
    seed: 13589,
    keep: "rates=delay,disturbances=1,operations=1+2+3+4+5+6+15",
    what: "I13 a call that a sibling's failure had ended was recorded behind a cancel and not rolled back (cancel.test.ts)",
  },
  {
    seed: 13560,
    keep: "rates=delay+store_slow,disturbances=0+1+2+3+4,operations=0+1+3+4+5+6+7",
    what: "I13 a body that was over before it saw a cancel began another call behind it (cancel.test.ts)",
  },
  {
    seed: 15687,
    keep: "rates=store_error+store_unknown,disturbances=0+1+2,operations=3+4+5+6,stretch=13001",
    what: "I16 a claim that was settled late gave the slot of a newer one away (unsure-claims.test.ts)",
  },
  {
    seed: 69800,
    keep: "rates=delay,disturbances=0,operations=0+4+7,stretch=14628",
    what: "I7 code of a copy that was over was told that a sibling had failed, and went on (abandoned-record.test.ts)",
  },
  {
    seed: 91526,
    keep: "rates=store_unknown+store_slow,disturbances=1,operations=0+6,stretch=5179",
    what: "I13 a rollback that was held back when a cancel came was waited for and never ran (hold.test.ts)",
  },
  {
    seed: 93163,
    keep: "rates=drop+delay+store_slow,disturbances=0+3+4,operations=0+2+6+7+8+9",
    what: "I17 a row read late hid a worker's session behind the one before it, and it stayed paused (stale-decisions.test.ts)",
  },
  {
    seed: 382220,
    keep: "rates=drop,disturbances=,operations=0+1+2+3+4+5+6+7+8+9",
    what: "I13 a fallback began behind a cancel that was told long before, as a checkpoint had no answer (cancel-in-flight.test.ts)",
  },
  {
    seed: 70023892,
    keep: "rates=drop+duplicate+store_error+pace,disturbances=1+4,operations=0+2+4",
    what: "I16 a server that stood still gave a worker more than it has slots for, whose stream another one had by then (replicas.test.ts)",
  },
  {
    seed: 70124632,
    keep: "rates=store_unknown+store_slow+pace,disturbances=0,operations=0+1+2+3+4+5+6+7+8,stretch=21995",
    what: "I16 the second look at a claim whose answer was lost gave the slot of a newer claim away (unsure-claims.test.ts)",
  },
  {
    seed: 2103160,
    keep: "rates=delay+cut+store_error+pace,disturbances=0+1+2+3+5+7,operations=3+5+6+7+8",
    what: "I3 a worker was told of an event with the time of an attempt to commit it that was undone (group-commit.test.ts)",
  },
];

const programs = await loadPrograms(2);

for (const { seed, keep, what } of FOUND) {
  test(what, async () => {
    const plan = planKept(planOf(seed), keptOf(keep));
    const { findings } = await verdictOn(await simulate(plan, { programs }));
    expect(findings).toEqual([]);
  });
}
