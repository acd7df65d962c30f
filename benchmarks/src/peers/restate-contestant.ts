import { atATime } from "../at-a-time.ts";
import { stopAll, stopOnFailure } from "../cleanup.ts";
import { createHome } from "../home.ts";
import { JsonClient } from "../json-client.ts";
import { startPeerProgram } from "./app-program.ts";
import type { Contestant, Queue } from "./contestant.ts";
import { peerVersion } from "./installed-peers.ts";
import { loadByCalls } from "./load-by-calls.ts";
import { startRestateServer } from "./restate-server.ts";

const START_LIMIT_MS = 20_000;

/** The Restate server and a process with the workflows, asked through its HTTP ingress. */
export const restateContestant: Contestant = {
  key: "restate",
  label: "Restate",
  start: () =>
    stopOnFailure(async (cleanup) => {
      const home = await createHome();
      cleanup.push(() => home.remove());
      const service = await startPeerProgram("restate-service", {}, cleanup);
      const server = await startRestateServer(home.path, cleanup);
      const [ingress, admin] = [new JsonClient(server.ingress), new JsonClient(server.admin)];
      cleanup.push(async () => {
        ingress.close();
        admin.close();
      });
      const deployment = { uri: service.url };
      await admin.send({ method: "POST", path: "/deployments", body: deployment });

      await untilServed(admin);

      let keys = 0;
      const prefix = `${Date.now()}`;
      const nextKey = () => `${prefix}-${keys++}`;
      const run = (tasks: number) =>
        ingress.send({ method: "POST", path: `/chain/${nextKey()}/run`, body: tasks });
      return {
        about: {
          version: `${peerVersion("@restatedev/restate-server")}, SDK ${peerVersion("@restatedev/restate-sdk")}`,
          shape: "server process, process with the workflows; HTTP ingress",
          store: "its own log, one node",
          durability: server.durability,
        },
        load: (load) => loadByCalls(load, run),
        queue: restateQueue(ingress, nextKey),
        completed: () => countCompleted(admin),
        stop: () => stopAll(cleanup),
      };
    }),
};

function restateQueue(ingress: JsonClient, nextKey: () => string): Queue {
  return {
    async enqueue() {
      const key = nextKey();
      await ingress.send({ method: "POST", path: `/started/${key}/run/send` });
      return key;
    },
    async startedAt(ids) {
      const at = await atATime(8, ids, async (id) => {
        const path = `/restate/workflow/started/${id}/attach`;
        return [id, await ingress.send<number>({ method: "GET", path })] as const;
      });
      return new Map(at);
    },
  };
}

/** Its partitions start one after another; none of that is to be measured. */
async function untilServed(admin: JsonClient): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    try {
      await countCompleted(admin);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** From its own tables, by its own SQL. */
async function countCompleted(admin: JsonClient): Promise<number> {
  const query = "SELECT count(*) AS n FROM sys_invocation WHERE status = 'completed'";
  const { rows } = await admin.send<{ rows: { n: number }[] }>({
    method: "POST",
    path: "/query",
    body: { query },
    headers: { accept: "application/json" },
  });
  return rows[0]?.n ?? 0;
}
