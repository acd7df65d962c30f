import { stopAll, stopOnFailure } from "../cleanup.ts";
import { POSTGRES_DURABILITY } from "../durability.ts";
import { startCluster } from "../postgres-cluster.ts";
import { type AppProgram, startPeerProgram } from "./app-program.ts";
import type { Contestant, Loaded, RunningContestant } from "./contestant.ts";
import { peerVersion } from "./installed-peers.ts";
import { loadByCalls } from "./load-by-calls.ts";

/** How it is asked; each is a row of its own. */
interface Way {
  readonly key: string;
  readonly label: string;
  readonly asked: string;
  readonly parts: (app: AppProgram) => Pick<RunningContestant, "load" | "queue">;
}

const WAYS: readonly Way[] = [
  {
    key: "dbos",
    label: "DBOS",
    asked: "library in the app's process; HTTP; queue polled each 1 s, its default",
    parts: (app) => ({
      load: (load) => loadByCalls(load, (tasks) => app.call("run", tasks)),
      queue: dbosQueue(app, "default"),
    }),
  },
  {
    key: "dbos_quick_poll",
    label: "DBOS, quick queue",
    asked: "library in the app's process; HTTP; queue polled each 5 ms",
    parts: (app) => ({ queue: dbosQueue(app, "quick") }),
  },
  {
    key: "dbos_in_process",
    label: "DBOS, no HTTP",
    asked: "library in the process that makes the load",
    parts: (app) => ({
      load: (load) => app.call<Loaded>("load", load),
    }),
  },
];

export const dbosContestants: readonly Contestant[] = WAYS.map(
  ({ key, label, asked, parts }): Contestant => ({
    key,
    label,
    start: () =>
      stopOnFailure(async (cleanup) => {
        const cluster = await startCluster();
        cleanup.push(() => cluster.stop());
        const app = await startPeerProgram("dbos", { DATABASE_URL: cluster.url }, cleanup);
        return {
          about: {
            version: peerVersion("@dbos-inc/dbos-sdk"),
            shape: asked,
            store: "postgres",
            durability: POSTGRES_DURABILITY,
          },
          ...parts(app),
          completed: () => app.call("completed"),
          stop: () => stopAll(cleanup),
        };
      }),
  }),
);

function dbosQueue(app: AppProgram, queue: "default" | "quick") {
  return {
    enqueue: () => app.call<string>("enqueue", queue),
    startedAt: async () => new Map(await app.call<[string, number][]>("starts")),
  };
}
