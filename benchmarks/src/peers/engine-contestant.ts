import { createRequire } from "node:module";
import type { ExecutionRecord } from "@engine/contract";
import { atATime } from "../at-a-time.ts";
import { stopAll, stopOnFailure } from "../cleanup.ts";
import { durabilityOf } from "../durability.ts";
import { type Engine, startOneProcess, startTwoProcesses } from "../engine.ts";
import { gate } from "../gate.ts";
import { createHome } from "../home.ts";
import type { HttpClient } from "../http-client.ts";
import { startCluster } from "../postgres-cluster.ts";
import type { Setup } from "../setup.ts";
import { startOurProgram } from "./app-program.ts";
import type { Contestant, Loaded, Queue } from "./contestant.ts";
import { loadByCalls } from "./load-by-calls.ts";

const WORKFLOWS = ["chain", "stamp"];

/** All packages share it. */
const { version } = createRequire(import.meta.url)("../../../packages/local/package.json") as {
  version: string;
};

/** Ours in the three ways that it can be had on a database. */
export function engineContestants(setup: Setup): readonly Contestant[] {
  const { store, runner } = setup;
  return [
    served(setup, {
      key: `ours_${store}`,
      label: `ours, ${store}`,
      shape: `server process, worker process, runner ${runner}; HTTP`,
      start: () => startTwoProcesses(setup),
    }),
    served(setup, {
      key: `ours_${store}_one_process`,
      label: `ours, ${store}, one process`,
      shape: `server and worker in one process, runner ${runner}; HTTP`,
      start: () => startOneProcess(setup),
    }),
    localContestant(setup),
  ];
}

interface Served extends Pick<Contestant, "key" | "label"> {
  readonly shape: string;
  readonly start: () => Promise<Engine>;
}

function served({ store }: Setup, { key, label, shape, start }: Served): Contestant {
  return {
    key,
    label,
    async start() {
      const { client, stop } = await start();
      return {
        about: { version, shape, store, durability: durabilityOf(store) },
        load: (load) =>
          loadByCalls(load, async (tasks) => (await client.run("chain", tasks)).output),
        queue: engineQueue(client),
        async completed() {
          const counts = WORKFLOWS.map((name) => client.countExecutions(name, "COMPLETED"));
          return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
        },
        stop,
      };
    },
  };
}

/** A library in the process that makes the load: `workflow.run(…)`. */
function localContestant({ store }: Setup): Contestant {
  return {
    key: `ours_${store}_local`,
    label: `ours, ${store}, library, no HTTP`,
    start: () =>
      stopOnFailure(async (cleanup) => {
        const home = await createHome();
        cleanup.push(() => home.remove());
        let url = `sqlite:${home.path}/engine.db`;
        if (store === "postgres") {
          const cluster = await startCluster();
          cleanup.push(() => cluster.stop());
          url = cluster.url;
        }
        const env = { ENGINE_HOME: home.path, DATABASE_URL: url };
        const app = await startOurProgram("local-app", env, cleanup);
        return {
          about: {
            version,
            shape: "library in the process that makes the load",
            store,
            durability: durabilityOf(store),
          },
          load: (load) => app.call<Loaded>("load", load),
          completed: () => app.call("completed"),
          stop: () => stopAll(cleanup),
        };
      }),
  };
}
function engineQueue(client: HttpClient): Queue {
  return {
    enqueue: () => client.start("stamp", null),
    async startedAt(ids) {
      const started = new Map<string, number>();
      await atATime(8, ids, async (id) => {
        const { state, output } = await client.get<ExecutionRecord>(`/executions/${id}`);
        gate(state !== "FAILED" && state !== "CANCELLED", () => `${id} is ${state}`);
        // The others have not told yet; whoever waits for them asks again.
        if (state === "COMPLETED") started.set(id, Number(output));
      });
      return started;
    },
  };
}
