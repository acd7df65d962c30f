import { buildHistory, endHistory } from "./built-history.ts";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { gateCount, gateDense, recordedAt } from "./log-gates.ts";
import type { Measure } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { count, ms } from "./table.ts";
import { costPerTask } from "./task-cost.ts";

/** 5,000 tasks are 10,000 events. */
const TASKS = [100, 1_000, 5_000, 10_000];

/** What it costs a worker to continue an execution it has never seen, by the length of its log. */
export const replay: Measure = {
  name: "replay",
  means: "a resume over 200 to 20,000 events on a fresh worker",
  async run(bench) {
    const { client, restartWorker } = await bench.engine();
    const repeats = bench.quick ? 1 : 5;
    const paused: { tasks: number; id: string }[] = [];
    for (const tasks of TASKS) {
      for (let i = 0; i < repeats; i++)
        paused.push({ tasks, id: await buildHistory(client, tasks) });
    }
    await restartWorker();

    const taken = new Map<number, number[]>(TASKS.map((tasks) => [tasks, []]));
    for (const { tasks, id } of paused) taken.get(tasks)?.push(await resume(client, tasks, id));
    return report(taken);
  },
};

async function resume(client: HttpClient, tasks: number, id: string): Promise<number> {
  const ran = await endHistory(client, id);
  gate(ran.tasks === 0, () => `${id}: ${ran.tasks} recorded tasks ran again`);
  gate(ran.bodies === 1, () => `${id}: its body ran ${ran.bodies} times after the restart`);
  const log = await client.log(id);
  gateDense(id, log);
  // The pause and the task after it are calls too.
  gateCount(id, log, "TASK_STARTED", tasks + 2);
  gateCount(id, log, "TASK_COMPLETED", tasks + 2);
  return recordedAt(log, "WORKFLOW_COMPLETED") - recordedAt(log, "WORKFLOW_RESUMING", "last");
}

function report(taken: ReadonlyMap<number, readonly number[]>) {
  const figures: Record<string, number> = {};
  const samples: Record<string, readonly number[]> = {};
  const rows: string[][] = [];
  for (const [tasks, times] of taken) {
    const [p50, p99] = [median(times), percentile(times, 99)];
    figures[`${2 * tasks}_events_ms`] = p50;
    samples[`${2 * tasks}_events_ms`] = times;
    rows.push([`${count(2 * tasks)} events`, count(tasks), ms(p50), ms(p99), `${times.length}`]);
  }
  const title = "Resume on a worker without a copy, WORKFLOW_RESUMING to WORKFLOW_COMPLETED";
  const columns = ["log", "tasks", "p50", "p99", "samples"];
  const cost = costPerTask([...taken].map(([tasks, times]) => ({ tasks, ms: median(times) })));
  return {
    tables: [{ title, columns, rows }, cost.table],
    figures: { ...figures, ...cost.figures },
    samples,
  };
}
