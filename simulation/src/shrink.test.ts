import { expect, test } from "vitest";
import { everything, keepText, keptOf, planKept } from "./kept.ts";
import { planOf } from "./plan.ts";
import { shrink } from "./shrink.ts";

test("a plan is made as small as what still breaks it", async () => {
  const plan = planOf(7);
  const [first, last] = [0, plan.operations.length - 1];
  let tries = 0;
  const kept = await shrink(plan, async ({ operations }) => {
    tries++;
    return operations.includes(first) && operations.includes(last);
  });
  expect(kept).toMatchObject({ rates: [], disturbances: [], operations: [first, last] });
  expect(kept.stretch).toBeLessThan(plan.stretch);
  expect(tries).toBeLessThanOrEqual(250);
});

test("what is left of a plan is written in one word and read again", () => {
  const plan = planOf(7);
  const kept = { ...everything(plan), operations: [1, 3], stretch: 4_000 };
  expect(keptOf(keepText(kept))).toEqual(kept);
  expect(planKept(plan, keptOf(keepText(kept))).operations).toEqual([
    plan.operations[1],
    plan.operations[3],
  ]);
});
