import { fileURLToPath } from "node:url";
import { type BenchProcess, startProcess } from "./bench-process.ts";
import { stopAll, stopOnFailure } from "./cleanup.ts";
import { preparePlace, register } from "./engine.ts";
import { engineProcess } from "./engine-process.ts";
import { gate } from "./gate.ts";
import { HttpClient } from "./http-client.ts";
import type { Measure } from "./measure.ts";
import { LETS_MANY_REGISTER, RawWorkers } from "./raw-workers.ts";
import { count } from "./table.ts";
import { passed } from "./until.ts";

const WORKERS = 500;
const SERVER = fileURLToPath(new URL("./counted-server.ts", import.meta.url));

/** What a server with many connected workers and nothing to do asks of its database. */
export const idle: Measure = {
  name: "idle",
  means: "statements a second of 500 workers without work",
  async run(bench) {
    const seconds = bench.quick ? 15 : 60;
    // Every worker has been heard once, and the server has told the store.
    const settleMs = bench.quick ? 6_000 : 15_000;
    return stopOnFailure(async (cleanup) => {
      const place = await preparePlace(bench.setup, cleanup);
      const { cwd } = place;
      const env = { ...place.env, ...LETS_MANY_REGISTER };
      const nodeArgs = ["--conditions=@engine/source"];
      const server = startProcess("server", [SERVER], { cwd, env, nodeArgs });
      cleanup.push(() => server.stop());
      const [, url = ""] = await server.printed(/^serving (\S+) end$/m);
      const client = new HttpClient(url);
      cleanup.push(async () => client.close());
      const workers = new RawWorkers(url);
      cleanup.push(async () => workers.close());
      await workers.connect(WORKERS);
      await passed(settleMs);

      const before = await statements(server, 1);
      await passed(seconds * 1_000);
      const sent = (await statements(server, 2)) - before;
      workers.gateConnected();
      workers.close();
      await gateAwake(url, cwd, client);
      await stopAll(cleanup);

      gate(sent > 0, () => "no heartbeat reached the database: were the workers there?");
      const perSecond = sent / seconds;
      return {
        tables: [
          {
            title: `${WORKERS} connected idle workers, ${seconds} s`,
            columns: ["", "statements", "statements/s"],
            rows: [["to the database", count(sent), perSecond.toFixed(2)]],
          },
        ],
        figures: { statements_per_second: perSecond },
        samples: { statements: [sent] },
      };
    });
  },
};

async function statements(server: BenchProcess, asked: number): Promise<number> {
  server.signal("SIGUSR2");
  const [, text] = await server.printed(new RegExp(`^statements ${asked} (\\d+) end$`, "m"));
  return Number(text);
}

/** A server that comes to rest has to wake up again. */
async function gateAwake(url: string, cwd: string, client: HttpClient): Promise<void> {
  await register(url, cwd);
  const env = { ENGINE_HOME: cwd, ENGINE_SERVER_URL: url };
  const worker = engineProcess(["start", "worker", "awake"], { cwd, env });
  try {
    await worker.printed(/connected/);
    const { output } = await client.run("chain", 3);
    gate(output === 3, () => `chain(3) answered ${output}`);
  } finally {
    await worker.stop();
  }
}
