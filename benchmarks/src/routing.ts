import type { Bench, Measure, Report } from "./measure.ts";
import { limitsWithRoom } from "./routing-limits.ts";
import { besideParked } from "./routing-parked.ts";
import { besideIdleWorkers } from "./routing-workers.ts";

/** One part after another: each starts engines of its own and stops them. */
const PARTS: readonly ((bench: Bench) => Promise<Report>)[] = [
  limitsWithRoom,
  besideIdleWorkers,
  besideParked,
];

/** What placement costs those whom it does not concern, and how soon a worker that fits is noticed. */
export const routing: Measure = {
  name: "routing",
  means: "beside 100,000 with an affinity each, 10,000 idle workers, limits with room",
  onlyWhenNamed: true,
  async run(bench) {
    const reports: Report[] = [];
    for (const part of PARTS) reports.push(await part(bench));
    return {
      tables: reports.flatMap(({ tables }) => tables),
      figures: Object.assign({}, ...reports.map(({ figures }) => figures)),
      samples: Object.assign({}, ...reports.map(({ samples }) => samples)),
    };
  },
};
