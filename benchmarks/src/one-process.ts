import { startOneProcess } from "./engine.ts";
import { measureLatency } from "./latency.ts";
import type { Measure } from "./measure.ts";

/** The same latencies without a network between server and worker (`engine dev`). */
export const oneProcess: Measure = {
  name: "one-process",
  async run(bench) {
    const engine = await startOneProcess(bench.setup);
    try {
      const title = "Latency, one at a time, server and worker in one process";
      return await measureLatency(engine.client, bench, title);
    } finally {
      await engine.stop();
    }
  },
};
