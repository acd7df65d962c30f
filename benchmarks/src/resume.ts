import { buildHistory, endHistory } from "./built-history.ts";
import { startTwoProcesses } from "./engine.ts";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import type { Measure } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { count, ms } from "./table.ts";

const TASKS = [10, 100, 1_000];

/**
 * From the request that answers a pause to the end of the execution, one task later: on a worker
 * that kept the copy in memory, and on one that keeps none and replays.
 */
export const resume: Measure = {
  name: "resume",
  means: "a resume of a pause, warm and by replay",
  async run(bench) {
    const samples: Record<string, number[]> = {};
    const { client } = await bench.engine();
    await sample({ client, isWarm: true }, bench.quick, samples);
    const forgetful = await startTwoProcesses(bench.setup, {
      env: { ENGINE_WORKERS__WARM_EXECUTIONS: "0" },
    });
    try {
      await sample({ client: forgetful.client, isWarm: false }, bench.quick, samples);
    } finally {
      await forgetful.stop();
    }
    const figures: Record<string, number> = {};
    const rows = Object.entries(samples).map(([name, taken]) => {
      const [p50, p99] = [median(taken), percentile(taken, 99)];
      figures[`${name}_p50_ms`] = p50;
      figures[`${name}_p99_ms`] = p99;
      return [name.replaceAll("_", " "), ms(p50), ms(p99), `${taken.length}`];
    });
    const title = "Resume of a pause, from the request to the answer, one task in between";
    const columns = ["copy, recorded tasks", "p50", "p99", "samples"];
    return { tables: [{ title, columns, rows }], figures, samples };
  },
};

interface Place {
  readonly client: HttpClient;
  readonly isWarm: boolean;
}

async function sample(place: Place, quick: boolean, samples: Record<string, number[]>) {
  await resumeOnce(place, 1_000);
  for (const tasks of TASKS) {
    const taken: number[] = [];
    for (let i = 0; i < (quick ? 5 : 50); i++) taken.push(await resumeOnce(place, tasks));
    samples[`${place.isWarm ? "warm" : "cold"}_${count(tasks)}_tasks`] = taken;
  }
}

async function resumeOnce({ client, isWarm }: Place, tasks: number): Promise<number> {
  const id = await buildHistory(client, tasks);
  const start = performance.now();
  const ran = await endHistory(client, id);
  const taken = performance.now() - start;
  const wentOn = ran.bodies === 1 && ran.tasks === tasks;
  gate(
    wentOn === isWarm,
    () =>
      `${id}: ${JSON.stringify(ran)} ran, which is not ${isWarm ? "going on with a warm copy" : "a replay"}`,
  );
  return taken;
}
