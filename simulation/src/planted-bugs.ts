import { IN_HOOKS } from "./planted/in-hooks.ts";
import { IN_LIMITS } from "./planted/in-limits.ts";
import { IN_PROCESSES } from "./planted/in-processes.ts";
import { IN_STORES } from "./planted/in-stores.ts";
import type { PlantedBug, PlantedBugs } from "./planted/planted-bug.ts";

/** At least one for each judge, so that each is known to see. */
export const PLANTED_BUGS: PlantedBugs = {
  ...IN_STORES,
  ...IN_LIMITS,
  ...IN_HOOKS,
  ...IN_PROCESSES,
};

export function plantedBug(name: string): PlantedBug {
  const bug = PLANTED_BUGS[name];
  if (bug) return bug;
  throw new Error(`no bug "${name}" to plant; there are ${Object.keys(PLANTED_BUGS).join(", ")}`);
}
