import { expect, test } from "vitest";
import { loadPrograms } from "./load-programs.ts";
import { planOf } from "./plan.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";
import { simulate } from "./simulate.ts";
import { verdictOn } from "./verdict.ts";

/** Enough for the rarest of them: what it takes has to come together. */
const MOST_SEEDS = 400;

const programs = await loadPrograms(2);

for (const [plant, { what, breaks }] of Object.entries(PLANTED_BUGS)) {
  test(`${breaks} notices when ${what}`, async () => {
    for (let seed = 1; seed <= MOST_SEEDS; seed++) {
      const violations = await verdictOn(await simulate(planOf(seed), { programs, plant }));
      if (violations.some(({ invariant }) => invariant === breaks)) return;
    }
    expect.unreachable(`${MOST_SEEDS} seeds did not notice it`);
  });
}
