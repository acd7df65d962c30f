import { type Cleanup, stopAll } from "./cleanup.ts";
import { startTwoProcesses } from "./engine.ts";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import type { Bench, Measure, Report } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { submitFor } from "./submit.ts";
import { count, ms } from "./table.ts";

const SECRETS = 100;
const AT_A_TIME = 200;
const TASKS = 3;
/** Samples of one side before the next has its turn. */
const BLOCK = 20;
const ROUNDS = { full: 10, quick: 2 };
const LOAD_MS = { full: 2_000, quick: 500 };
const WARM_UP_MS = { full: 8_000, quick: 1_000 };

/** One way to run the engine, with what was measured of it, a figure for each round. */
interface Side {
  readonly name: string;
  readonly client: HttpClient;
  readonly perSecond: number[];
  readonly p50: number[];
  readonly latencies: number[];
}

/**
 * What it costs that everybody says who they are: three engines are up, each is asked while the others
 * are idle, and the turns are short, so that a machine whose speed changes changes all of them.
 */
export const auth: Measure = {
  name: "auth",
  means:
    "3-task workflows a second and 0-task latency with authorization off, on, and with secrets",
  async run(bench) {
    const cleanup: Cleanup = [];
    const start = async (name: string, isOn: boolean): Promise<Side> => {
      const engine = await startTwoProcesses(bench.setup, { auth: isOn });
      cleanup.push(() => engine.stop());
      return { name, client: engine.client, perSecond: [], p50: [], latencies: [] };
    };
    try {
      const off = await start("off", false);
      const key = await start("API key", true);
      const secrets = await start(`API key, ${SECRETS} secrets`, true);
      for (let n = 0; n < SECRETS; n++) {
        const value = `secret-${n}-${"x".repeat(n % 24)}`;
        await secrets.client.put(`/admin/secrets/bench_${n}`, { value });
      }
      const sides = [off, key, secrets];
      for (const side of sides) await throughput(side, WARM_UP_MS[profile(bench)]);
      for (const { perSecond } of sides) perSecond.length = 0;
      for (let round = 0; round < ROUNDS[profile(bench)]; round++) {
        bench.tell(`round ${round + 1}, by turns`);
        // None of them is always the first.
        const turns = [...sides.slice(round % 3), ...sides.slice(0, round % 3)];
        for (const side of turns) await throughput(side, LOAD_MS[profile(bench)]);
        for (const side of turns) await latency(side);
      }
      return report(off, sides);
    } finally {
      await stopAll(cleanup);
    }
  },
};

function profile({ quick }: Bench): "quick" | "full" {
  return quick ? "quick" : "full";
}

async function throughput({ client, perSecond }: Side, milliseconds: number): Promise<void> {
  let done = 0;
  const elapsed = await submitFor(milliseconds, AT_A_TIME, async () => {
    const { output } = await client.run("chain", TASKS);
    gate(output === TASKS, () => `chain(${TASKS}) answered ${output}`);
    done++;
  });
  perSecond.push(done / (elapsed / 1000));
}

async function latency({ client, p50, latencies }: Side): Promise<void> {
  const taken: number[] = [];
  // The first after a rest is not like the others.
  await client.run("chain", 0);
  for (let i = 0; i < BLOCK; i++) {
    const start = performance.now();
    await client.run("chain", 0);
    taken.push(performance.now() - start);
  }
  p50.push(median(taken));
  latencies.push(...taken);
}

function report(off: Side, sides: readonly Side[]): Report {
  const figures: Record<string, number> = {};
  const samples: Record<string, readonly number[]> = {};
  const rows = sides.map((side) => {
    const { name, perSecond, p50, latencies } = side;
    const throughputRatio = median(ratios(perSecond, off.perSecond));
    const latencyRatio = median(ratios(p50, off.p50));
    figures[`${name}: workflows/s`] = median(perSecond);
    figures[`${name}: workflows/s, ratio`] = throughputRatio;
    figures[`${name}: 0 tasks p50 ms`] = median(p50);
    figures[`${name}: 0 tasks p50, ratio`] = latencyRatio;
    samples[`${name}: workflows/s`] = perSecond;
    samples[`${name}: 0 tasks ms`] = latencies;
    return [
      name,
      count(median(perSecond)),
      throughputRatio.toFixed(3),
      ms(median(p50)),
      ms(percentile(latencies, 99)),
      latencyRatio.toFixed(3),
    ];
  });
  const title = `Authorization, ${AT_A_TIME} at a time and one at a time, by turns`;
  const columns = ["", "3-task workflows/s", "÷ off", "0 tasks p50", "p99", "÷ off"];
  return { tables: [{ title, columns, rows }], figures, samples };
}

/** Each round with itself. */
function ratios(values: readonly number[], of: readonly number[]): readonly number[] {
  return values.map((value, i) => value / (of[i] ?? Number.NaN));
}
