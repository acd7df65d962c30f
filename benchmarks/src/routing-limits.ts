import { chainsPerSecond } from "./chains-per-second.ts";
import { type Cleanup, stopAll } from "./cleanup.ts";
import type { Bench, Report } from "./measure.ts";
import { ratios, startRoutingEngine } from "./routing-engine.ts";
import { median } from "./stats.ts";
import { count } from "./table.ts";

const TASKS = 3;
const AT_A_TIME = 200;
const ROUNDS = { full: 5, quick: 2 };
const LOAD_MS = { full: 3_000, quick: 500 };
const WARM_UP_MS = { full: 6_000, quick: 500 };

/** What it costs to be counted by limits that never hold anybody up, on one engine. */
export async function limitsWithRoom(bench: Bench): Promise<Report> {
  const profile = bench.quick ? "quick" : "full";
  const cleanup: Cleanup = [];
  try {
    const { client } = await startRoutingEngine(bench, cleanup);
    const without = { workflow: "unlimited", perSecond: [] as number[] };
    const within = { workflow: "limited", perSecond: [] as number[] };
    const load = async ({ workflow }: { workflow: string }, milliseconds: number) => {
      const one = { workflow, tasks: TASKS, concurrency: AT_A_TIME, milliseconds };
      return (await chainsPerSecond(client, one)).perSecond;
    };
    for (const side of [without, within]) await load(side, WARM_UP_MS[profile]);
    for (let round = 0; round < ROUNDS[profile]; round++) {
      bench.tell(`limits with room, round ${round + 1}, by turns`);
      // Neither is always the first.
      for (const side of round % 2 ? [within, without] : [without, within]) {
        side.perSecond.push(await load(side, LOAD_MS[profile]));
      }
    }
    const ratio = median(ratios(within.perSecond, without.perSecond));
    return {
      tables: [
        {
          title: `Limits with room, ${TASKS}-task workflows, ${AT_A_TIME} at a time, by turns on one engine`,
          columns: ["", "workflows/s", "least", "most"],
          rows: [
            row("no limits", without.perSecond),
            row("concurrency and rate, never reached", within.perSecond),
            ["limited ÷ unlimited", ratio.toFixed(3), "", ""],
          ],
        },
      ],
      figures: {
        "workflows/s, limited ÷ unlimited": ratio,
        "unlimited: workflows/s": median(without.perSecond),
        "limited: workflows/s": median(within.perSecond),
      },
      samples: {
        "unlimited: workflows/s": without.perSecond,
        "limited: workflows/s": within.perSecond,
      },
    };
  } finally {
    await stopAll(cleanup);
  }
}

function row(name: string, perSecond: readonly number[]): string[] {
  const figures = [median(perSecond), Math.min(...perSecond), Math.max(...perSecond)];
  return [name, ...figures.map(count)];
}
