import type { Measure } from "./measure.ts";
import { type MeasuredPart, reportOf } from "./parts.ts";
import { limitsWithRoom } from "./routing-limits.ts";
import { besideParked } from "./routing-parked.ts";
import { besideIdleWorkers } from "./routing-workers.ts";

const PARTS: readonly MeasuredPart[] = [limitsWithRoom, besideIdleWorkers, besideParked];

/** What placement costs those whom it does not concern, and how soon a worker that fits is noticed. */
export const routing: Measure = {
  name: "routing",
  means: "beside 100,000 with an affinity each, 10,000 idle workers, limits with room",
  onlyWhenNamed: true,
  run: (bench) => reportOf(PARTS, bench),
};
