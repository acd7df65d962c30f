// DBOS as its documentation has it: a library in the application's process. The application answers
// a request by starting a workflow and waiting for its handle.
import { DBOS } from "@dbos-inc/dbos-sdk";
import type { Load } from "../../src/peers/contestant.ts";
import { loadByCalls } from "../../src/peers/load-by-calls.ts";
import { serveApp } from "../../src/peers/serve-app.ts";
import { sharedClock } from "../../src/shared-clock.ts";

const QUEUES = { default: "polled", quick: "polled_quickly" };
/** As quick as it may be without a poll catching up with the one before. */
const QUICK_POLL_MS = 5;

const increment = (n: number) => Promise.resolve(n + 1);

async function chainFunction(tasks: number): Promise<number> {
  let n = 0;
  while (n < tasks) {
    const before = n;
    n = await DBOS.runStep(() => increment(before), { name: "step" });
  }
  return n;
}
const chain = DBOS.registerWorkflow(chainFunction, { name: "chain" });

const starts: [string, number][] = [];
function startedFunction(): Promise<string> {
  const at = sharedClock();
  const id = DBOS.workflowID ?? "";
  starts.push([id, at]);
  return Promise.resolve(id);
}
const started = DBOS.registerWorkflow(startedFunction, { name: "started" });

DBOS.setConfig({
  name: "engine-benchmark",
  systemDatabaseUrl: process.env["DATABASE_URL"] ?? "",
  logLevel: "error",
});
await DBOS.launch();
await DBOS.registerQueue(QUEUES.default);
await DBOS.registerQueue(QUEUES.quick, { minPollingIntervalMs: QUICK_POLL_MS });

async function run(tasks: number): Promise<number> {
  const handle = await DBOS.startWorkflow(chain)(tasks);
  return handle.getResult();
}

serveApp(
  { quick_poll_ms: QUICK_POLL_MS },
  {
    run: (tasks) => run(tasks as number),
    enqueue: async (queue) => {
      const queueName = QUEUES[queue as keyof typeof QUEUES];
      return (await DBOS.startWorkflow(started, { queueName })()).workflowID;
    },
    starts: () => Promise.resolve(starts),
    completed: async () => (await DBOS.listWorkflows({ status: "SUCCESS" })).length,
    // The same without HTTP, called where the workflow runs.
    load: (load) => loadByCalls(load as Load, run),
  },
);
