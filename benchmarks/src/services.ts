import { type Cleanup, stopAll } from "./cleanup.ts";
import { startTwoProcesses } from "./engine.ts";
import { engineProcess } from "./engine-process.ts";
import { gate } from "./gate.ts";
import { JsonClient } from "./json-client.ts";
import type { Bench, Measure, Report } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { submitFor } from "./submit.ts";
import { count, ms } from "./table.ts";

const SERVICE = "bench";
const AT_A_TIME = 64;
const TASKS = 1;
/** Samples of one side before the other has its turn. */
const BLOCK = 50;
const ROUNDS = { full: 5, quick: 2 };
const LOAD_MS = { full: 3_000, quick: 500 };
const WARM_UP_MS = { full: 6_000, quick: 1_000 };

/** One way to the same endpoint, with what was measured of it, a figure for each round. */
interface Side {
  readonly name: string;
  readonly client: JsonClient;
  readonly path: string;
  readonly perSecond: number[];
  readonly p50: number[];
  readonly latencies: number[];
}

/**
 * What it costs that a service has a process of its own: the same endpoint is asked at the server and
 * at that process, by turns, one at a time and many at a time.
 */
export const services: Measure = {
  name: "services",
  means: "1-task calls of a service, at the server and at a process of its own",
  async run(bench) {
    const cleanup: Cleanup = [];
    try {
      const engine = await startTwoProcesses(bench.setup);
      cleanup.push(() => engine.stop());
      const direct = sideOf("server", engine.url, `/services/${SERVICE}/chain`);
      cleanup.push(() => Promise.resolve(direct.client.close()));
      await direct.client.send({
        ...{ method: "POST", path: "/services" },
        body: { name: SERVICE, namespaces: ["bench"] },
      });
      const words = ["service", "start", SERVICE, "--port", "0", "--host", "127.0.0.1"];
      const env = { ENGINE_SERVER_URL: engine.url, ENGINE_LOG_LEVEL: "warn" };
      const gateway = engineProcess(words, { cwd: engine.home, env });
      cleanup.push(() => gateway.stop());
      const [, url = ""] = await gateway.printed(/ on (http:\S+),/);
      const own = sideOf("a process of its own", url, "/chain");
      cleanup.push(() => Promise.resolve(own.client.close()));
      const sides = [direct, own];
      for (const side of sides) await throughput(side, WARM_UP_MS[profile(bench)]);
      for (const { perSecond } of sides) perSecond.length = 0;
      for (let round = 0; round < ROUNDS[profile(bench)]; round++) {
        bench.tell(`round ${round + 1}, by turns`);
        // Neither is always the first.
        const turns = round % 2 ? [own, direct] : sides;
        for (const side of turns) await throughput(side, LOAD_MS[profile(bench)]);
        for (const side of turns) await latency(side);
      }
      return report(direct, own);
    } finally {
      await stopAll(cleanup);
    }
  },
};

function profile({ quick }: Bench): "quick" | "full" {
  return quick ? "quick" : "full";
}

function sideOf(name: string, url: string, path: string): Side {
  const client = new JsonClient(url);
  return { name, client, path, perSecond: [], p50: [], latencies: [] };
}

async function call({ client, path }: Side): Promise<void> {
  const output = await client.send<number>({ method: "POST", path, body: TASKS });
  gate(output === TASKS, () => `${path} answered ${JSON.stringify(output)}`);
}

async function throughput(side: Side, milliseconds: number): Promise<void> {
  let done = 0;
  const elapsed = await submitFor(milliseconds, AT_A_TIME, async () => {
    await call(side);
    done++;
  });
  side.perSecond.push(done / (elapsed / 1000));
}

async function latency(side: Side): Promise<void> {
  const taken: number[] = [];
  // The first after a rest is not like the others.
  await call(side);
  for (let i = 0; i < BLOCK; i++) {
    const start = performance.now();
    await call(side);
    taken.push(performance.now() - start);
  }
  side.p50.push(median(taken));
  side.latencies.push(...taken);
}

function report(direct: Side, own: Side): Report {
  const ratio = median(
    own.perSecond.map((value, i) => value / (direct.perSecond[i] ?? Number.NaN)),
  );
  const added = median(own.p50.map((value, i) => value - (direct.p50[i] ?? Number.NaN)));
  const rows = [direct, own].map(({ name, perSecond, p50, latencies }) => [
    name,
    count(median(perSecond)),
    ms(median(p50)),
    ms(percentile(latencies, 99)),
  ]);
  rows.push(["own ÷ server, own − server", ratio.toFixed(3), ms(added), ""]);
  return {
    tables: [
      {
        title: `A service, ${TASKS}-task calls, ${AT_A_TIME} at a time and one at a time, by turns`,
        columns: ["", "calls/s", "p50", "p99"],
        rows,
      },
    ],
    figures: {
      "calls/s, own ÷ server": ratio,
      "p50, own − server, ms": added,
      "server: calls/s": median(direct.perSecond),
      "own: calls/s": median(own.perSecond),
    },
    samples: { "server: ms": direct.latencies, "own: ms": own.latencies },
  };
}
