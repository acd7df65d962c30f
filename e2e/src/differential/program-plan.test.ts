import { expect, test } from "vitest";
import { planOf } from "./program-plan.ts";

const options = { seed: 1, kills: 0.5, defaults: 0.1, isCareful: false };
const plans = Array.from({ length: 600 }, (_, n) => planOf(n, options));
const share = (holds: (plan: (typeof plans)[number]) => boolean) =>
  plans.filter(holds).length / plans.length;

test("the number and the seed say what the program is and what is done to it", () => {
  expect(planOf(17, options)).toEqual(plans[17]);
  expect(planOf(17, { ...options, seed: 2 })).not.toEqual(plans[17]);
  expect(new Set(plans.map(({ input }) => JSON.stringify(input))).size).toBeGreaterThan(550);
});

test("half of the programs run while workers are killed, some with the default configuration", () => {
  expect(share(({ setup }) => setup.isKilled)).toBeCloseTo(0.5, 1);
  expect(share(({ setup }) => !setup.isCold)).toBeGreaterThan(0.04);
  expect(planOf(17, { ...options, kills: 0 }).setup.isKilled).toBe(false);
});

test("only where workers are killed do functions kill theirs", () => {
  const dying = plans.filter(({ input }) => JSON.stringify(input).includes('"dies"'));
  expect(dying.length).toBeGreaterThan(0);
  expect(dying.filter(({ setup }) => !setup.isKilled)).toEqual([]);
});

test("operators cancel, rename, fork and send signals", () => {
  for (const kind of ["cancel", "rename", "fork", "signal"]) {
    expect(
      share(({ acts }) => acts.some((act) => act.kind === kind)),
      kind,
    ).toBeGreaterThan(0.03);
  }
});
