import { expect, test } from "vitest";
import { everything } from "./kept.ts";
import { loadPrograms } from "./load-programs.ts";
import { type Plan, planOf } from "./plan.ts";
import { simulate } from "./simulate.ts";
import { verdictOn } from "./verdict.ts";

const programs = await loadPrograms(2);

test("I1 to I14, I16, I17, I22, I23 and I24 hold in 200 simulated runs, whatever breaks in them", async () => {
  const broken: string[] = [];
  for (let seed = 1; seed <= 200; seed++) {
    for (const { invariant, message } of await verdictOn(await run(planOf(seed)))) {
      broken.push(`npm run simulate -- --seed ${seed}: ${invariant} ${message}`);
    }
  }
  expect(broken).toEqual([]);
});

test("a seed gives the same run each time, to the last happening", async () => {
  const plans = [3, 19, 22, 47, 270].map(planOf);
  for (const plan of plans) {
    const [first, again] = [await run(plan, true), await run(plan, true)];
    expect(first.trace.length).toBeGreaterThan(20);
    expect(again.trace).toEqual(first.trace);
    expect(again.steps).toBe(first.steps);
  }
});

test("seeds differ: some are calm, and all that can be broken is broken in some", () => {
  const plans = Array.from({ length: 300 }, (_, seed) => planOf(seed));
  const kept = plans.map(everything);
  expect(kept.some(({ rates, disturbances }) => rates.length + disturbances.length === 0)).toBe(
    true,
  );
  const kinds = new Set([
    ...kept.flatMap(({ rates }) => rates),
    ...plans.flatMap(({ disturbances }) => disturbances.map(({ kind }) => kind)),
  ]);
  expect(kinds.size).toBe(16);
  expect(new Set(plans.map(({ servers }) => servers))).toEqual(new Set([1, 2, 3]));
});

function run(plan: Plan, isTraced = false): ReturnType<typeof simulate> {
  return simulate(plan, { programs, isTraced });
}
