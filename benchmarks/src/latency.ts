import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { gateLogs, spread } from "./log-gates.ts";
import type { Bench, Measure, Report } from "./measure.ts";
import { mean, median, percentile } from "./stats.ts";
import { submitFor } from "./submit.ts";
import { ms, type Table } from "./table.ts";

const SHAPES = [
  { tasks: 0, samples: 400, quick: 40 },
  { tasks: 3, samples: 400, quick: 40 },
  { tasks: 100, samples: 60, quick: 8 },
];
/**
 * Load before anything is measured: figures are those of a server that has been up for a while, whose
 * hot code is compiled. One at a time that takes minutes.
 */
const WARM_UP = { full: 8_000, quick: 1_000, submitters: 32 };
/** Then a few of each shape. */
const ALIKE = 20;

/** One workflow after another, each from the request to the answer with the output. */
export const latency: Measure = {
  name: "latency",
  means: "workflows of 0, 3 and 100 tasks, one at a time",
  async run(bench) {
    const { client } = await bench.engine();
    return measureLatency(client, bench, "Latency, one at a time, server and worker as processes");
  },
};

export async function measureLatency(
  client: HttpClient,
  bench: Bench,
  title: string,
): Promise<Report> {
  const rows: string[][] = [];
  const figures: Record<string, number> = {};
  const samples: Record<string, number[]> = {};
  const run = async () => void (await client.run("chain", 3));
  await submitFor(bench.quick ? WARM_UP.quick : WARM_UP.full, WARM_UP.submitters, run);
  for (const shape of SHAPES) {
    const { tasks } = shape;
    for (let i = 0; i < ALIKE; i++) await client.run("chain", tasks);
    const taken = await sample(client, tasks, bench.quick ? shape.quick : shape.samples);
    const [p50, p99] = [median(taken), percentile(taken, 99)];
    rows.push([`${tasks} tasks`, ms(p50), ms(p99), ms(mean(taken)), String(taken.length)]);
    figures[`${tasks}_tasks_p50_ms`] = p50;
    figures[`${tasks}_tasks_p99_ms`] = p99;
    samples[`${tasks}_tasks_ms`] = taken;
  }
  const table: Table = { title, columns: ["workflow", "p50", "p99", "mean", "samples"], rows };
  return { tables: [table], figures, samples };
}

async function sample(client: HttpClient, tasks: number, count: number): Promise<number[]> {
  const taken: number[] = [];
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    const record = await client.run("chain", tasks);
    taken.push(performance.now() - start);
    gate(record.output === tasks, () => `chain(${tasks}) answered ${record.output}`);
    ids.push(record.execution_id);
  }
  await gateLogs(client, spread(ids, 50), tasks);
  return taken;
}
