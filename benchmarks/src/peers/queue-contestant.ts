import { stopAll, stopOnFailure } from "../cleanup.ts";
import { POSTGRES_DURABILITY } from "../durability.ts";
import { gate } from "../gate.ts";
import { DURABLE_SETTINGS, startCluster } from "../postgres-cluster.ts";
import { startPeerProgram } from "./app-program.ts";
import type { Contestant } from "./contestant.ts";
import { peerVersion } from "./installed-peers.ts";

/** A queue of jobs in PostgreSQL: no workflows, only how long work waits for its start. */
export const queueContestant: Contestant = {
  key: "graphile_worker",
  label: "graphile-worker",
  start: () =>
    stopOnFailure(async (cleanup) => {
      const cluster = await startCluster();
      cleanup.push(() => cluster.stop());
      const env = { DATABASE_URL: cluster.url };
      const app = await startPeerProgram("queue-app", env, cleanup);
      const worker = await startPeerProgram("queue-worker", env, cleanup);
      // The server's own word: it holds for every contestant on such a cluster.
      const said = await app.call<Record<string, string>>(
        "settings",
        Object.keys(DURABLE_SETTINGS),
      );
      for (const [name, value] of Object.entries(DURABLE_SETTINGS)) {
        gate(said[name] === value, () => `${name} is ${said[name]}, not ${value}`);
      }
      let enqueued = 0;
      return {
        about: {
          version: peerVersion("graphile-worker"),
          shape: "app process, worker process; HTTP to the app, which adds the job",
          store: "postgres",
          durability: POSTGRES_DURABILITY,
        },
        queue: {
          enqueue() {
            enqueued++;
            return app.call<string>("enqueue");
          },
          startedAt: async () => new Map(await worker.call<[string, number][]>("starts")),
        },
        // A job that has run is gone.
        completed: async () => enqueued - (await app.call<number>("left")),
        stop: () => stopAll(cleanup),
      };
    }),
};
