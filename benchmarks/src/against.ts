import { existsSync } from "node:fs";
import { join } from "node:path";
import { chainsPerSecond } from "./chains-per-second.ts";
import { type Cleanup, stopAll } from "./cleanup.ts";
import { untilBodies } from "./dispatch.ts";
import { startTwoProcesses } from "./engine.ts";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import type { Bench, Measure, Report } from "./measure.ts";
import { processorTime } from "./processor-time.ts";
import { meanError, median, percentile } from "./stats.ts";
import { count, micro, ms } from "./table.ts";

/**
 * Two processes of the same code may differ by a tenth for as long as they live, by what was compiled
 * when: so both are started anew this often.
 */
const STARTS = 6;
/** Samples of one side before the other has its turn, and how often both have theirs at each start. */
const LATENCY = [
  { tasks: 0, block: 10, rounds: 12 },
  { tasks: 3, block: 10, rounds: 12 },
  { tasks: 100, block: 3, rounds: 16 },
];
const THROUGHPUT = { concurrency: [32, 200], blockMs: 1_000, rounds: 10 };
/** Tasks a second of workflows with many tasks, as `sustained` has them. */
const SUSTAINED = { tasks: 20, concurrency: [16, 64], blockMs: 1_500, rounds: 8 };
/** Of all processes for a workflow, which a busy machine hardly disturbs. */
const PROCESSOR = { tasks: 3, concurrency: 200, blockMs: 2_000, rounds: 8 };
/** From a request to the body's first line. */
const DISPATCH = { block: 20, rounds: 10 };
const WARM_UP_TURNS = 8;
const QUICK = { starts: 1, rounds: 4 };

/** One figure of both sides, a pair for each round. */
interface Pairs {
  readonly name: string;
  readonly ours: number[];
  readonly theirs: number[];
  readonly write: (value: number) => string;
}

/**
 * This checkout beside another one: both engines are up, each is asked while the other is idle, and
 * the turns are short, so that a machine whose speed changes from minute to minute changes both. What
 * is compared is each round with itself; the order within a round turns from one to the next.
 */
export const against: Measure = {
  name: "against",
  means:
    "latency, throughput, processor time and dispatch of two checkouts by turns; see --against",
  onlyWhenNamed: true,
  async run(bench) {
    const folder = bench.against;
    if (!folder) throw new Error("against needs --against FOLDER, another checkout");
    gate(existsSync(join(folder, "node_modules")), () => `no installed checkout in ${folder}`);
    const all = new Map<string, Pairs>();
    for (let start = 0; start < (bench.quick ? QUICK.starts : STARTS); start++) {
      const cleanup: Cleanup = [];
      const started = async (checkout?: string) => {
        const engine = await startTwoProcesses(bench.setup, checkout ? { checkout } : {});
        cleanup.push(() => engine.stop());
        return engine.client;
      };
      try {
        // None of the two is always the first.
        const early = start % 2 === 0 ? await started() : undefined;
        const theirs = await started(folder);
        await measureBoth(bench, { ours: early ?? (await started()), theirs }, all);
      } finally {
        await stopAll(cleanup);
      }
    }
    return report([...all.values()]);
  },
};

interface Sides {
  readonly ours: HttpClient;
  readonly theirs: HttpClient;
}

async function measureBoth(bench: Bench, sides: Sides, all: Map<string, Pairs>): Promise<void> {
  const rounds = (full: number) => (bench.quick ? QUICK.rounds : full);
  const pairsOf = (name: string, write: Pairs["write"]) => {
    const pairs = all.get(name) ?? { name, ours: [], theirs: [], write };
    all.set(name, pairs);
    return pairs;
  };
  bench.tell("warming up, by turns");
  const warmUps = { name: "", ours: [], theirs: [], write: count };
  await byTurns(rounds(WARM_UP_TURNS), warmUps, sides, (client) =>
    throughput(client, 32, THROUGHPUT.blockMs),
  );
  for (const concurrency of THROUGHPUT.concurrency) {
    bench.tell(`${concurrency} at a time, by turns`);
    const pairs = pairsOf(`3-task workflows/s at ${concurrency}`, count);
    await byTurns(rounds(THROUGHPUT.rounds), pairs, sides, (client) =>
      throughput(client, concurrency, THROUGHPUT.blockMs),
    );
  }
  if (processorTime() !== undefined) {
    const { tasks, concurrency } = PROCESSOR;
    bench.tell(`processor time, ${concurrency} at a time, by turns`);
    const pairs = pairsOf(`CPU of a ${tasks}-task workflow at ${concurrency}`, micro);
    await byTurns(rounds(PROCESSOR.rounds), pairs, sides, processorTimeOfOne);
  }
  const { tasks: many } = SUSTAINED;
  for (const concurrency of SUSTAINED.concurrency) {
    bench.tell(`${many} tasks, ${concurrency} at a time, by turns`);
    const pairs = pairsOf(`tasks/s, ${many}-task workflows at ${concurrency}`, count);
    await byTurns(rounds(SUSTAINED.rounds), pairs, sides, async (client) => {
      const perSecond = await throughput(client, concurrency, SUSTAINED.blockMs, many);
      return perSecond * many;
    });
  }
  bench.tell("dispatch, by turns");
  const untilBody = pairsOf("request to the body's first line, p50 of a turn", ms);
  await byTurns(rounds(DISPATCH.rounds), untilBody, sides, async (client) => {
    await client.run("stamp", null);
    return median(await untilBodies(client, DISPATCH.block));
  });
  for (const { tasks, block, rounds: full } of LATENCY) {
    bench.tell(`${tasks} tasks, by turns`);
    const pairs = pairsOf(`${tasks} tasks, p50 of a turn`, ms);
    await byTurns(rounds(full), pairs, sides, async (client) => {
      const taken: number[] = [];
      // The first after a rest is not like the others.
      await client.run("chain", tasks);
      for (let i = 0; i < block; i++) {
        const start = performance.now();
        const { output } = await client.run("chain", tasks);
        taken.push(performance.now() - start);
        gate(output === tasks, () => `chain(${tasks}) answered ${output}`);
      }
      return median(taken);
    });
  }
}

async function byTurns(
  rounds: number,
  pairs: Pairs,
  { ours, theirs }: Sides,
  measure: (client: HttpClient) => Promise<number>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) pairs.ours.push(await measure(ours));
    pairs.theirs.push(await measure(theirs));
    if (round % 2 === 1) pairs.ours.push(await measure(ours));
  }
}

/** Workflows a second. */
async function throughput(
  client: HttpClient,
  concurrency: number,
  milliseconds: number,
  tasks = 3,
): Promise<number> {
  return (await chainsPerSecond(client, { tasks, concurrency, milliseconds })).perSecond;
}

/** Processor time of everything but this process, in microseconds for each workflow. */
async function processorTimeOfOne(client: HttpClient): Promise<number> {
  const { tasks, concurrency, blockMs: milliseconds } = PROCESSOR;
  const before = processorTime() ?? Number.NaN;
  const { done } = await chainsPerSecond(client, { tasks, concurrency, milliseconds });
  return (((processorTime() ?? Number.NaN) - before) * 1_000) / done;
}

function report(all: readonly Pairs[]): Report {
  const rows: string[][] = [];
  const figures: Record<string, number> = {};
  const samples: Record<string, number[]> = {};
  for (const { name, ours, theirs, write } of all) {
    const ratios = ours.map((value, i) => value / (theirs[i] ?? Number.NaN));
    figures[`${name}: ratio`] = median(ratios);
    samples[`${name}: ours`] = ours;
    samples[`${name}: theirs`] = theirs;
    rows.push([
      name,
      write(median(ours)),
      write(median(theirs)),
      median(ratios).toFixed(3),
      `${percentile(ratios, 25).toFixed(2)} to ${percentile(ratios, 75).toFixed(2)}`,
      meanError(ratios).toFixed(3),
      String(ratios.length),
    ]);
  }
  const title = "This checkout beside the other, by short turns";
  const columns = ["figure", "this", "other", "ratio", "middle half", "± (mean)", "rounds"];
  return { tables: [{ title, columns, rows }], figures, samples };
}
