import type { ExecutionRecord } from "@engine/contract";
import { atATime } from "../at-a-time.ts";
import { durabilityOf } from "../durability.ts";
import { startTwoProcesses } from "../engine.ts";
import { gate } from "../gate.ts";
import type { HttpClient } from "../http-client.ts";
import type { Setup } from "../setup.ts";
import type { Contestant, Queue } from "./contestant.ts";
import { loadByCalls } from "./load-by-calls.ts";

const WORKFLOWS = ["chain", "stamp"];

/** Ours: one server and one worker as processes, asked by HTTP. */
export function engineContestant(setup: Setup): Contestant {
  const { store, runner } = setup;
  return {
    key: `ours_${store}`,
    label: `ours, ${store}`,
    async start() {
      const { client, stop } = await startTwoProcesses(setup);
      const { version } = await client.get<{ version: string }>("/health");
      return {
        about: {
          version,
          shape: `server process, worker process, runner ${runner}; HTTP`,
          store,
          durability: durabilityOf(store),
        },
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
