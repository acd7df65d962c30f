// The worker's side of the queue, in a process of its own, with the options that its documentation's
// page on performance shows.
import { Logger, run } from "graphile-worker";
import { serveApp } from "../../src/peers/serve-app.ts";
import { sharedClock } from "../../src/shared-clock.ts";

const OPTIONS = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};
const starts: [string, number][] = [];

await run({
  preset: { worker: { connectionString: process.env["DATABASE_URL"] ?? "", ...OPTIONS } },
  logger: new Logger(() => () => {}),
  noHandleSignals: true,
  taskList: {
    started: (_payload, { job }) => {
      starts.push([job.id, sharedClock()]);
    },
  },
});

serveApp({ options: OPTIONS }, { starts: () => Promise.resolve(starts) });
