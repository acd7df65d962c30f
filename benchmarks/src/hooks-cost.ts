import { atATime } from "./at-a-time.ts";
import { chainsPerSecond } from "./chains-per-second.ts";
import { type Cleanup, stopAll } from "./cleanup.ts";
import { makeHook, startHooksEngine } from "./hooks-engine.ts";
import type { HttpClient } from "./http-client.ts";
import type { Bench, Report } from "./measure.ts";
import { processorTime } from "./processor-time.ts";
import { ratios } from "./routing-engine.ts";
import { mean, meanError, median } from "./stats.ts";
import { count, micro } from "./table.ts";

const TASKS = 3;
const AT_A_TIME = 200;
const NEVER = { full: 1_000, quick: 50 };
/**
 * Two processes of the same code differ for as long as they live, by more than hooks cost: so all are
 * started anew this often, and a start is one sample.
 */
const STARTS = { full: 8, quick: 1 };
const ROUNDS = { full: 3, quick: 2 };
const LOAD_MS = { full: 2_000, quick: 500 };
const WARM_UP_MS = { full: 4_000, quick: 500 };
/** Nothing of what is written is delivered while it is measured. */
const UNDRAINED = {
  ENGINE_HOOKS__EVENT_DRAIN: "false",
  ENGINE_SCHEDULING__POLL_INTERVAL: "3600",
};

interface Side {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly prepare: (client: HttpClient, bench: Bench) => Promise<void>;
  /** Microseconds for each workflow, of all processes; of each start the median of its rounds. */
  readonly cpu: number[];
  /** Of each start, too. */
  readonly perSecond: number[];
}

/** A side in one start, and what its rounds took. */
interface Started {
  readonly side: Side;
  readonly client: HttpClient;
  readonly cpu: number[];
  readonly perSecond: number[];
}

function side(
  name: string,
  env: Side["env"] = {},
  prepare: Side["prepare"] = async () => {},
): Side {
  return { name, env, prepare, cpu: [], perSecond: [] };
}

/** What a 3-task workflow costs by what hooks there are, each on an engine of its own, by turns. */
export async function costOfHooks(bench: Bench): Promise<Report> {
  const profile = bench.quick ? "quick" : "full";
  const sides = [
    side("hooks turned off", { ENGINE_HOOKS__ENABLED: "false" }),
    side("no hook"),
    side(`${count(NEVER[profile])} hooks that never match`, {}, neverMatching),
    side("a hook on every event, undrained", UNDRAINED, onEveryEvent),
  ];
  for (let start = 0; start < STARTS[profile]; start++) {
    const cleanup: Cleanup = [];
    try {
      const started: Started[] = [];
      for (const one of turned(sides, start)) {
        const { client } = await startHooksEngine(bench, cleanup, one.env);
        await one.prepare(client, bench);
        await load(client, WARM_UP_MS[profile]);
        started.push({ side: one, client, cpu: [], perSecond: [] });
      }
      for (let round = 0; round < ROUNDS[profile]; round++) {
        bench.tell(`cost of hooks, start ${start + 1}, round ${round + 1}, by turns`);
        // None is always the first.
        for (const { client, cpu, perSecond } of turned(started, round)) {
          const before = processorTime() ?? Number.NaN;
          const loaded = await load(client, LOAD_MS[profile]);
          cpu.push((((processorTime() ?? Number.NaN) - before) * 1_000) / loaded.done);
          perSecond.push(loaded.perSecond);
        }
      }
      for (const { side: one, cpu, perSecond } of started) {
        one.cpu.push(median(cpu));
        one.perSecond.push(median(perSecond));
      }
    } finally {
      await stopAll(cleanup);
    }
  }
  return report(sides);
}

function load(client: HttpClient, milliseconds: number) {
  return chainsPerSecond(client, { tasks: TASKS, concurrency: AT_A_TIME, milliseconds });
}

function turned<Item>(items: readonly Item[], by: number): readonly Item[] {
  const at = by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

/** Some by a name of their own, some that look at every workflow of another namespace. */
async function neverMatching(client: HttpClient, { quick }: Bench): Promise<void> {
  await atATime(16, Array(NEVER[quick ? "quick" : "full"]).keys(), (n) =>
    makeHook(client, {
      name: `never-${n}`,
      selectors: [
        `execution:bench:other_${n}:failed`,
        n % 2 ? `task:other_${n}:*:*:failed` : `execution:*:other_${n}:completed`,
      ],
    }),
  );
}

async function onEveryEvent(client: HttpClient): Promise<void> {
  await makeHook(client, {
    name: "every-event",
    selectors: ["execution:*:*:*", "task:*:*:*:*"],
  });
}

function report(sides: readonly Side[]): Report {
  const [off] = sides;
  if (!off) throw new Error("nothing was measured");
  const figures: Record<string, number> = {};
  const samples: Record<string, readonly number[]> = {};
  const rows = sides.map(({ name, cpu, perSecond }) => {
    const cpuRatios = ratios(cpu, off.cpu);
    const cpuRatio = mean(cpuRatios);
    const rate = mean(ratios(perSecond, off.perSecond));
    figures[`${name}: CPU, ratio`] = cpuRatio;
    figures[`${name}: CPU, ratio, ±`] = meanError(cpuRatios);
    figures[`${name}: workflows/s, ratio`] = rate;
    samples[`${name}: CPU µs`] = cpu;
    samples[`${name}: workflows/s`] = perSecond;
    return [
      name,
      micro(median(cpu)),
      cpuRatio.toFixed(3),
      meanError(cpuRatios).toFixed(3),
      count(median(perSecond)),
      rate.toFixed(3),
    ];
  });
  const title = `Hooks that start nothing, ${TASKS}-task workflows, ${AT_A_TIME} at a time, by turns`;
  const columns = ["", "CPU of one", "÷ off", "±", "workflows/s", "÷ off"];
  return { tables: [{ title, columns, rows }], figures, samples };
}
