import { Config } from "@engine/contract";
import { openLocal } from "@engine/local";
import { openStore, openValueStore } from "@engine/store";
import { gate } from "./gate.ts";
import { createHome } from "./home.ts";
import type { Measure } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { ms } from "./table.ts";
import { chain } from "./workflows/bench-workflows.ts";

const TASKS = [0, 3, 100];

/** `workflow.run()` in the caller's process, on a durable database of its own. */
export const localRun: Measure = {
  name: "local",
  means: "one task of a local run, in one process without a server",
  stores: ["sqlite"],
  async run(bench) {
    const home = await createHome();
    const store = await openStore(`sqlite:${home.path}/engine.db`, { synchronous: "full" });
    const config = Config.parse({ home: home.path });
    const values = await openValueStore(config);
    const local = openLocal({ store, values, limits: config.executions });
    const samples: Record<string, number[]> = {};
    try {
      for (const tasks of TASKS) {
        const runs = bench.quick ? 10 : tasks === 100 ? 60 : 300;
        samples[`${tasks}_tasks_ms`] = await sample(local, tasks, runs);
      }
    } finally {
      await local.close();
      await home.remove();
    }
    return report(samples);
  },
};

async function sample(
  local: ReturnType<typeof openLocal>,
  tasks: number,
  runs: number,
): Promise<number[]> {
  const taken: number[] = [];
  const warmUp = 10;
  for (let i = 0; i < warmUp + runs; i++) {
    const start = performance.now();
    const result = await local.run(chain, tasks);
    if (i >= warmUp) taken.push(performance.now() - start);
    gate(result.output === tasks, () => `a local chain(${tasks}) answered ${result.output}`);
    gate(result.events.length === 2 * tasks + 4, () => `${result.events.length} local events`);
  }
  return taken;
}

function report(samples: Readonly<Record<string, readonly number[]>>) {
  const figures: Record<string, number> = {};
  const rows: string[][] = [];
  for (const tasks of TASKS) {
    const taken = samples[`${tasks}_tasks_ms`] ?? [];
    figures[`${tasks}_tasks_p50_ms`] = median(taken);
    rows.push([`${tasks} tasks`, ms(median(taken)), ms(percentile(taken, 99)), `${taken.length}`]);
  }
  const perTask = ((figures["100_tasks_p50_ms"] ?? 0) - (figures["0_tasks_p50_ms"] ?? 0)) / 100;
  figures["per_task_ms"] = perTask;
  rows.push(["per task, from 0 to 100", ms(perTask), "", ""]);
  const title = "Local run (`workflow.run`), in the caller's process";
  return {
    tables: [{ title, columns: ["workflow", "p50", "p99", "samples"], rows }],
    figures,
    samples,
  };
}
