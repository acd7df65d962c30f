import { atATime } from "./at-a-time.ts";
import { startTwoProcesses } from "./engine.ts";
import { gate } from "./gate.ts";
import { asleep } from "./herd.ts";
import type { HttpClient } from "./http-client.ts";
import type { Measure, Report } from "./measure.ts";
import { sharedClock } from "./shared-clock.ts";
import { mean, median, percentile } from "./stats.ts";
import { count, ms } from "./table.ts";
import { until } from "./until.ts";

const SIZE = { full: 100_000, quick: 2_000 };
const BLOCKS = { full: 10, quick: 5 };
const BLOCK = { full: 50, quick: 20 };
const SIX_HOURS_MS = 6 * 3_600_000;
const SETTLE_LIMIT_MS = 120_000;
/** A worker that was there once and is gone. */
const ABSENT = "absent";

/** How long a fresh execution waits for its start beside very many that wait for an instant. */
export const sleepingHerd: Measure = {
  name: "beside-sleepers",
  means: "a fresh execution beside 100,000 asleep",
  run: (bench) => besideHerd(bench, "asleep", sleepers),
};

/** The same beside very many that wait in the queue for a worker that is not there. */
export const unmatchedHerd: Measure = {
  name: "beside-unmatched",
  means: "a fresh execution beside 100,000 that no worker may have",
  run: (bench) => besideHerd(bench, "for a worker that is away", unmatched),
};

type MakeHerd = (engine: Parameters<typeof unmatched>[0], size: number) => Promise<void>;

/** Two engines, one with the herd and one without, asked by turns. */
async function besideHerd(
  bench: Parameters<Measure["run"]>[0],
  what: string,
  makeHerd: MakeHerd,
): Promise<Report> {
  const profile = bench.quick ? "quick" : "full";
  const size = SIZE[profile];
  const alone = await startTwoProcesses(bench.setup);
  try {
    const crowded = await startTwoProcesses(bench.setup);
    try {
      // Else the herd would warm up the one and not the other.
      for (const engine of [alone, crowded]) await warmUp(engine.client, bench.quick ? 500 : 5_000);
      bench.tell(`making ${count(size)} executions that wait (${what}) …`);
      await makeHerd(crowded, size);
      const times = { alone: [] as number[], crowded: [] as number[] };
      for (let block = 0; block <= BLOCKS[profile]; block++) {
        const sides = [
          { client: alone.client, taken: times.alone },
          { client: crowded.client, taken: times.crowded },
        ];
        for (const { client, taken } of block % 2 === 0 ? sides : sides.reverse()) {
          const blockTimes = await startTimes(client, BLOCK[profile]);
          // The first one only warms up.
          if (block > 0) taken.push(...blockTimes);
        }
      }
      return report(`${count(size)} waiting, ${what}`, times);
    } finally {
      await crowded.stop();
    }
  } finally {
    await alone.stop();
  }
}

async function warmUp(client: HttpClient, workflows: number): Promise<void> {
  await atATime(64, Array(workflows).keys(), () => client.run("stamp", null));
}

/** From the request to the first line of the body, one after another. */
async function startTimes(client: HttpClient, runs: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const asked = sharedClock();
    const { output } = await client.run("stamp", null);
    times.push(Number(output) - asked);
  }
  return times;
}

async function sleepers({ client }: { client: HttpClient }, size: number): Promise<void> {
  const until = Date.now() + SIX_HOURS_MS;
  await atATime(64, Array(size).keys(), () => client.start("sleeper", until));
  await settled(async () => (await client.countExecutions("sleeper", "RUNNING")) === size);
  await settled(async () => (await asleep(client, LOOKED_AT)) === Math.min(size, LOOKED_AT));
}

/** The newest: they fall asleep last. */
const LOOKED_AT = 1_000;

async function unmatched(
  { client, startWorker }: Awaited<ReturnType<typeof startTwoProcesses>>,
  size: number,
): Promise<void> {
  const worker = await startWorker(ABSENT);
  await worker.stop();
  const headers = { "x-engine-require-worker": ABSENT };
  await atATime(64, Array(size).keys(), () => client.start("chain", 1, headers));
  const waiting = await client.countExecutions("chain", "CREATED");
  gate(waiting === size, () => `${waiting} of ${size} wait; did something run them?`);
}

function settled(holds: () => Promise<boolean>): Promise<void> {
  const late = () => "the herd does not sleep";
  return until(holds, { limitMs: SETTLE_LIMIT_MS, everyMs: 250, late });
}

function report(herd: string, times: { alone: number[]; crowded: number[] }): Report {
  const { alone, crowded } = times;
  const ratio = median(crowded) / median(alone);
  const row = (label: string, taken: readonly number[]) => {
    const figures = [median(taken), percentile(taken, 95), percentile(taken, 99), mean(taken)];
    return [label, ...figures.map(ms), `${taken.length}`];
  };
  return {
    tables: [
      {
        title: `From the request to the first line of the body, by turns; p50 beside the herd is ${ratio.toFixed(2)} × that without`,
        columns: ["", "p50", "p95", "p99", "mean", "samples"],
        rows: [row("nothing waits", alone), row(herd, crowded)],
      },
    ],
    figures: {
      alone_p50_ms: median(alone),
      crowded_p50_ms: median(crowded),
      crowded_to_alone_p50: ratio,
    },
    samples: { alone_ms: alone, crowded_ms: crowded },
  };
}
