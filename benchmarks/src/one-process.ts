import { measureDispatch } from "./dispatch.ts";
import { startOneProcess } from "./engine.ts";
import { measureLatency } from "./latency.ts";
import type { Measure, Report } from "./measure.ts";
import { measureSustained } from "./sustained.ts";
import { measureThroughput } from "./throughput.ts";

const WHERE = "server and worker in one process";

/** The same figures without a network between server and worker (`npm start`). */
export const oneProcess: Measure = {
  name: "one-process",
  means: "latency, dispatch and throughput as `npm start` has them",
  async run(bench) {
    const engine = await startOneProcess(bench.setup);
    try {
      const { client } = engine;
      const reports = [
        await measureLatency(client, bench, `Latency, one at a time, ${WHERE}`),
        await measureDispatch(client, bench, WHERE),
        await measureThroughput(client, bench, WHERE),
        await measureSustained(client, bench, WHERE),
      ];
      return together(reports);
    } finally {
      await engine.stop();
    }
  },
};

function together(reports: readonly Report[]): Report {
  return {
    tables: reports.flatMap(({ tables }) => tables),
    figures: Object.assign({}, ...reports.map(({ figures }) => figures)),
    samples: Object.assign({}, ...reports.map(({ samples }) => samples)),
  };
}
