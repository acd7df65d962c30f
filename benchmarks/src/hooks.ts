import { costOfHooks } from "./hooks-cost.ts";
import { besideOneThatFails, fromEventToBody } from "./hooks-latency.ts";
import { startsByHooks } from "./hooks-starts.ts";
import type { Bench, Measure, Report } from "./measure.ts";

/** One part after another: each starts engines of its own and stops them. */
const PARTS: readonly ((bench: Bench) => Promise<Report>)[] = [
  costOfHooks,
  startsByHooks,
  fromEventToBody,
  besideOneThatFails,
];

/** What hooks cost those who have none, and how soon and how fast they start what they are to start. */
export const hooks: Measure = {
  name: "hooks",
  means:
    "the cost of hooks that do not match, starts by hooks a second, from an event to its target",
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
