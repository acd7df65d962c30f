import { DESCRIBED_VALUES } from "./descriptions.ts";
import type { Where } from "./programs/program.ts";
import type { Random } from "./random.ts";

/** What an input says of the worker that it is to have: of each key nothing at times. */
export function whereOf(random: Random): Where {
  const value = () => random.pick(DESCRIBED_VALUES);
  return {
    ...(random.chance(0.9) && { tier: value() }),
    ...(random.chance(0.5) && { zone: value() }),
    ...(random.chance(0.5) && { not_zone: value() }),
    ...(random.chance(0.4) && { served: random.pick(["yes", "no"]) }),
    ...(random.chance(0.9) && { hidden: hiddenOf(random) }),
  };
}

function hiddenOf(random: Random): NonNullable<Where["hidden"]> {
  return {
    ...(random.chance(0.9) && { disk: random.pick(["ssd", "hdd"]) }),
    ...(random.chance(0.4) && { zone: random.pick(DESCRIBED_VALUES) }),
  };
}
