import type { HttpClient } from "./http-client.ts";
import { gateLogs, recordedAt } from "./log-gates.ts";
import type { Bench, Measure, Report } from "./measure.ts";
import { submitFor } from "./submit.ts";
import { count } from "./table.ts";

const TASKS = 20;
/** Workflows under way. Few of them are bound by what a step takes, many by what it costs. */
const SUBMITTERS = [16, 64];

/** Tasks a second over logs alone: all completions between the first start and the last end. */
export const sustained: Measure = {
  name: "sustained",
  means: "tasks a second over 10 s, workflows of 20 tasks",
  async run(bench) {
    const { client } = await bench.engine();
    return measureSustained(client, bench, "server and worker as processes");
  },
};

export async function measureSustained(
  client: HttpClient,
  bench: Bench,
  where: string,
): Promise<Report> {
  const rows: string[][] = [];
  const figures: Record<string, number> = {};
  for (const submitters of SUBMITTERS) {
    const ids: string[] = [];
    await submitFor(bench.quick ? 1_500 : 10_000, submitters, async () => {
      ids.push((await client.run("chain", TASKS)).execution_id);
    });
    const logs = await gateLogs(client, ids, TASKS);
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    for (const log of logs) {
      first = Math.min(first, recordedAt(log, "TASK_STARTED"));
      last = Math.max(last, recordedAt(log, "TASK_COMPLETED", "last"));
    }
    const seconds = (last - first) / 1000;
    const perSecond = (ids.length * TASKS) / seconds;
    rows.push([String(submitters), count(ids.length), seconds.toFixed(1), count(perSecond)]);
    figures[`tasks_per_second_at_${submitters}`] = perSecond;
  }
  const title = `Sustained load, ${TASKS}-task workflows, ${where}`;
  const columns = ["at a time", "executions", "seconds", "tasks/s"];
  return { tables: [{ title, columns, rows }], figures, samples: {} };
}
