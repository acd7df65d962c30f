import { gateLogs, recordedAt } from "./log-gates.ts";
import type { Measure } from "./measure.ts";
import { submitFor } from "./submit.ts";
import { count } from "./table.ts";

const TASKS = 20;
const SUBMITTERS = 64;

/** Tasks a second over logs alone: all completions between the first start and the last end. */
export const sustained: Measure = {
  name: "sustained",
  async run(bench) {
    const { client } = await bench.engine();
    const ids: string[] = [];
    await submitFor(bench.quick ? 1_500 : 6_000, SUBMITTERS, async () => {
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
    return {
      tables: [
        {
          title: `Sustained load, ${TASKS}-task workflows, ${SUBMITTERS} at a time`,
          columns: ["executions", "seconds", "tasks/s"],
          rows: [[count(ids.length), seconds.toFixed(1), count(perSecond)]],
        },
      ],
      figures: { tasks_per_second: perSecond },
      samples: {},
    };
  },
};
