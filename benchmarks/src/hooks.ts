import { costOfHooks } from "./hooks-cost.ts";
import { besideOneThatFails, fromEventToBody } from "./hooks-latency.ts";
import { startsByHooks } from "./hooks-starts.ts";
import type { Measure } from "./measure.ts";
import { type MeasuredPart, reportOf } from "./parts.ts";

const PARTS: readonly MeasuredPart[] = [
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
  run: (bench) => reportOf(PARTS, bench),
};
