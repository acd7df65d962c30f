import { expect, test } from "vitest";
import { JUDGES } from "./invariants/judge.ts";
import { loadPrograms } from "./load-programs.ts";
import { planOf } from "./plan.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";
import { simulate } from "./simulate.ts";
import { verdictOn } from "./verdict.ts";

/** Enough for the rarest of them: what it takes has to come together. */
const MOST_SEEDS = 400;
/** As good as any other. */
const FIRST_SEED = 0;

const programs = await loadPrograms(2);

for (const [plant, { what, seenBy, mayShow }] of Object.entries(PLANTED_BUGS)) {
  test(`${seenBy} notices when ${what}`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + MOST_SEEDS; seed++) {
      const plan = planOf(seed);
      if (mayShow?.(plan) === false) continue;
      const { findings } = await verdictOn(await simulate(plan, { programs, plant }));
      if (findings.some(({ judge }) => judge === seenBy)) return;
    }
    expect.unreachable(`${MOST_SEEDS} seeds did not notice it`);
  });
}

test("every judge has a bug that it is known to see", () => {
  const seen = new Set(Object.values(PLANTED_BUGS).map(({ seenBy }) => seenBy));
  expect([...JUDGES, "unhandled"].filter((judge) => !seen.has(judge))).toEqual([]);
});
