import { startTwoProcesses } from "./engine.ts";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { gateCount, gateDense } from "./log-gates.ts";
import type { Measure } from "./measure.ts";
import { mean, median, percentile } from "./stats.ts";
import { ms } from "./table.ts";

const CHILDREN = 100;

/**
 * A parent that calls children, all at once, and waits for them. On a worker with one slot the
 * parent's wait must not hold it: the run would never end.
 */
export const children: Measure = {
  name: "children",
  means: "a parent that calls 100 children at once",
  async run(bench) {
    const runs = bench.quick ? 3 : 20;
    const many = await sample((await bench.engine()).client, runs);
    const narrow = await startTwoProcesses(bench.setup, { env: { ENGINE_WORKERS__SLOTS: "1" } });
    try {
      return report(many, await sample(narrow.client, runs));
    } finally {
      await narrow.stop();
    }
  },
};

interface Sample {
  readonly taken: readonly number[];
  /** How often the parent was given to the worker. */
  readonly claims: readonly number[];
}

async function sample(client: HttpClient, runs: number): Promise<Sample> {
  const [taken, claims]: [number[], number[]] = [[], []];
  for (let i = 0; i < runs; i++) {
    const before = await client.countExecutions("chain", "COMPLETED");
    const start = performance.now();
    const { execution_id: id, output } = await client.run("family", CHILDREN);
    taken.push(performance.now() - start);
    gate(output === CHILDREN, () => `family(${CHILDREN}) answered ${output}`);
    const completed = (await client.countExecutions("chain", "COMPLETED")) - before;
    gate(completed === CHILDREN, () => `${id}: ${completed} of ${CHILDREN} children completed`);
    const log = await client.log(id);
    gateDense(id, log);
    // One for the `parallel` around them.
    gateCount(id, log, "TASK_COMPLETED", CHILDREN + 1);
    claims.push(log.filter(({ type }) => type === "WORKFLOW_CLAIMED").length);
  }
  return { taken, claims };
}

function report(many: Sample, one: Sample) {
  const row = (label: string, { taken, claims }: Sample) => {
    const times = [ms(median(taken)), ms(percentile(taken, 99))];
    return [label, ...times, mean(claims).toFixed(1), `${taken.length}`];
  };
  return {
    tables: [
      {
        title: `A parent of ${CHILDREN} children, one task each, from the request to the answer`,
        columns: ["worker", "p50", "p99", "claims of the parent", "samples"],
        rows: [row("256 slots", many), row("1 slot", one)],
      },
    ],
    figures: { p50_ms: median(many.taken), one_slot_p50_ms: median(one.taken) },
    samples: { taken_ms: many.taken, one_slot_ms: one.taken, claims: many.claims },
  };
}
