import { DESCRIBED_VALUES } from "./descriptions.ts";
import type { Hidden, Where } from "./programs/program.ts";
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

/** The same of what a program calls: what it was started with itself is none of their business. */
export function handedOf(random: Random): Where {
  return {
    ...(random.chance(0.5) && { hidden: hiddenOf(random) }),
    ...(random.chance(0.85) && { handed: hiddenOf(random) }),
  };
}

function hiddenOf(random: Random): Hidden {
  return {
    ...(random.chance(0.9) && { disk: random.pick(["ssd", "hdd"]) }),
    ...(random.chance(0.4) && { zone: random.pick(DESCRIBED_VALUES) }),
  };
}
