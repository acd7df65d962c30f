import { everything, type Kept } from "./kept.ts";
import type { Plan } from "./plan.ts";

/** Runs that a search for a smaller plan may take. */
const MOST_RUNS = 250;

/**
 * Looks for the least of a plan that still breaks the same thing: leaves out more and more of each
 * list, first halves of it, then single ones, until nothing can go.
 */
export async function shrink(
  plan: Plan,
  stillBreaks: (kept: Kept) => Promise<boolean>,
): Promise<Kept> {
  let kept = everything(plan);
  let runs = 0;
  const attempt = async (smaller: Kept) => {
    if (runs++ >= MOST_RUNS || !(await stillBreaks(smaller))) return false;
    kept = smaller;
    return true;
  };
  for (let before = -1; before !== sizeOf(kept) && runs < MOST_RUNS; ) {
    before = sizeOf(kept);
    for (const list of ["rates", "disturbances", "operations", "hooks"] as const) {
      for (let size = kept[list].length; size >= 1; size = Math.floor(size / 2)) {
        for (let at = 0; at < kept[list].length; ) {
          const rest = kept[list].filter((_, i) => i < at || i >= at + size);
          if (!(await attempt({ ...kept, [list]: rest }))) at += size;
        }
      }
    }
    for (const part of [0.25, 0.5, 0.75]) {
      const stretch = Math.round((kept.stretch ?? plan.stretch) * part);
      if (await attempt({ ...kept, stretch })) break;
    }
  }
  return kept;
}

function sizeOf({ rates, disturbances, operations, hooks }: Kept): number {
  return rates.length + disturbances.length + operations.length + hooks.length;
}
