import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { gateLogs, spread } from "./log-gates.ts";
import type { Bench, Measure, Report } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { submitFor } from "./submit.ts";
import { count, ms } from "./table.ts";

const TASKS = 3;
const CONCURRENCY = [32, 200];

/** As many small workflows as the engine takes, each started when one before it has answered. */
export const throughput: Measure = {
  name: "throughput",
  means: "3-task workflows a second, 32 and 200 at a time",
  async run(bench) {
    const { client } = await bench.engine();
    return measureThroughput(client, bench, "server and worker as processes");
  },
};

export async function measureThroughput(
  client: HttpClient,
  bench: Bench,
  where: string,
): Promise<Report> {
  const rows: string[][] = [];
  const figures: Record<string, number> = {};
  const samples: Record<string, number[]> = {};
  for (const concurrency of CONCURRENCY) {
    // Compilers are done with the hot code only after some thousands of workflows.
    await load(client, concurrency, bench.quick ? 300 : 4_000);
    const { times, elapsed } = await load(client, concurrency, bench.quick ? 1_500 : 8_000);
    const perSecond = times.length / (elapsed / 1000);
    rows.push([
      `${concurrency} at a time`,
      count(perSecond),
      count(perSecond * TASKS),
      ms(median(times)),
      ms(percentile(times, 99)),
      count(times.length),
    ]);
    figures[`workflows_per_second_at_${concurrency}`] = perSecond;
    figures[`tasks_per_second_at_${concurrency}`] = perSecond * TASKS;
    samples[`latency_at_${concurrency}_ms`] = times;
  }
  const columns = ["3-task workflows", "workflows/s", "tasks/s", "p50", "p99", "samples"];
  const title = `Throughput of small workflows, ${where}`;
  return { tables: [{ title, columns, rows }], figures, samples };
}

async function load(client: HttpClient, concurrency: number, milliseconds: number) {
  const before = await client.countExecutions("chain");
  const completedBefore = await client.countExecutions("chain", "COMPLETED");
  const times: number[] = [];
  const ids: string[] = [];
  const elapsed = await submitFor(milliseconds, concurrency, async () => {
    const start = performance.now();
    const record = await client.run("chain", TASKS);
    times.push(performance.now() - start);
    gate(record.output === TASKS, () => `chain(${TASKS}) answered ${record.output}`);
    ids.push(record.execution_id);
  });
  const started = (await client.countExecutions("chain")) - before;
  const completed = (await client.countExecutions("chain", "COMPLETED")) - completedBefore;
  gate(new Set(ids).size === ids.length, () => "two runs answered with the same execution");
  gate(started === ids.length, () => `${ids.length} runs answered, ${started} executions exist`);
  gate(completed === ids.length, () => `${ids.length} runs answered, ${completed} are COMPLETED`);
  await gateLogs(client, spread(ids, 200), TASKS);
  return { times, elapsed };
}
