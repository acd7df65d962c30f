import { startTwoProcesses } from "./engine.ts";
import { runHerd } from "./herd-run.ts";
import type { Measure } from "./measure.ts";
import { REPORTS_MEMORY, ServerMemory } from "./server-memory.ts";
import { herdReport } from "./sleep-herd-report.ts";

const FULL = { size: 10_000, spread: 60_000, first: 1_000 };
const QUICK = { size: 1_000, spread: 6_000, first: 200 };
const FIRST_LEAD_MS = 15_000;
/** For the look at a sleeping herd before its first instant. */
const LOOK_MS = 4_000;

/** Many executions that sleep: whether they wake in time, and what they cost while they do not. */
export const sleepHerd: Measure = {
  name: "sleep-herd",
  means: "10,000 sleeping executions: when they wake, what they hold",
  async run(bench) {
    const { size, spread, first } = bench.quick ? QUICK : FULL;
    const { server, client, stop } = await startTwoProcesses(bench.setup, {
      nodeArgs: REPORTS_MEMORY,
    });
    try {
      const place = { client, memory: new ServerMemory(server) };
      // Tells how fast they fall asleep, and lets the server grow to its working size.
      const trial = await runHerd(place, { size: first, lead: FIRST_LEAD_MS, spread: 0 });
      const lead = LOOK_MS + 1.5 * (trial.fellAsleep / first) * size;
      const spreadOut = await runHerd(place, { size, lead, spread });
      const atOnce = await runHerd(place, { size, lead, spread: 0 });
      return herdReport({ spread, spreadOut, atOnce });
    } finally {
      await stop();
    }
  },
};
