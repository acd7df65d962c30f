import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { startTwoProcesses, type TwoProcesses } from "./engine.ts";
import type { Probe } from "./health-probe.ts";
import {
  bodies,
  type Load,
  pipelined,
  stalling,
  type Tally,
  unreadStreams,
} from "./hostile-loads.ts";
import type { Measure } from "./measure.ts";
import { count, ms } from "./table.ts";
import { passed } from "./until.ts";

const MEMORY_EVERY_MS = 50;
const HONEST = 8;
const TASKS = 3;
/** Of the log that is streamed, in events of 200 KB. */
const LOG_EVENTS = 270;

interface Outcome {
  readonly load: string;
  readonly slowest: number;
  readonly peak: number;
  readonly after: number;
  readonly tally: Tally;
  readonly completed: number;
  readonly failed: number;
}

/** What becomes of a server, and of honest executions on it, while somebody means harm. */
export const hostile: Measure = {
  name: "hostile",
  means: "loads of a hostile client beside honest executions",
  onlyWhenNamed: true,
  async run(bench) {
    const milliseconds = bench.quick ? 5_000 : 60_000;
    const rest = bench.quick ? 5_000 : 20_000;
    const engine = await startTwoProcesses(bench.setup);
    try {
      const log = await engine.client.run("talker", LOG_EVENTS);
      const stream = `/executions/${log.execution_id}?mode=stream&events=all`;
      const loads = [
        bodies("40 × 16 MB, no such workflow", "/workflows/bench/nobody/run/async"),
        bodies("40 × 16 MB, against a schema", "/workflows/bench/chain/run/async"),
        bodies("40 × 16 MB, taken", "/workflows/bench/swallow/run/async"),
        stalling,
        pipelined,
        unreadStreams(stream),
      ];
      const outcomes: Outcome[] = [];
      for (const load of loads) {
        if (engine.server.ended) break;
        bench.tell(`${load.name} …`);
        outcomes.push(await suffered(engine, load, { milliseconds, rest }));
      }
      return {
        tables: [
          {
            title: `Loads that mean harm, ${milliseconds / 1000} s each, beside ${HONEST} × ${TASKS}-task workflows${engine.server.ended ? "; the server died" : ""}`,
            columns: ["", "slowest /health", "peak", "after", "answers", "completed", "failed"],
            rows: outcomes.map(rowOf),
          },
        ],
        figures: Object.fromEntries(
          outcomes.flatMap(({ load, slowest, peak, after }) => [
            [`${load}: slowest health ms`, slowest],
            [`${load}: peak bytes`, peak],
            [`${load}: bytes after`, after],
          ]),
        ),
        samples: {},
      };
    } finally {
      await engine.stop();
    }
  },
};

function rowOf({ load, slowest, peak, after, tally, completed, failed }: Outcome): string[] {
  const answers = Object.entries(tally).map(([what, times]) => `${what} ×${times}`);
  return [
    load,
    ms(slowest),
    mib(peak),
    mib(after),
    answers.join(" "),
    count(completed),
    count(failed),
  ];
}

async function suffered(
  { url, server, client }: TwoProcesses,
  load: Load,
  { milliseconds, rest }: { readonly milliseconds: number; readonly rest: number },
): Promise<Outcome> {
  const before = await resident(server.pid);
  let [peak, completed, failed, isOver] = [before, 0, 0, false];
  const sampler = setInterval(() => {
    void resident(server.pid).then((bytes) => {
      peak = Math.max(peak, bytes);
    });
  }, MEMORY_EVERY_MS);
  const probe = new Worker(new URL("./health-probe.ts", import.meta.url), { workerData: { url } });
  probe.on("error", () => undefined);
  await once(probe, "online");
  const honest = Array.from({ length: HONEST }, async () => {
    while (!isOver && !server.ended) {
      const isRight = await client.run("chain", TASKS).then(
        ({ output }) => output === TASKS,
        () => false,
      );
      if (isRight) completed++;
      else failed++;
      await passed(20);
    }
  });
  const tally = await load.run(new URL(url), milliseconds);
  isOver = true;
  await Promise.all(honest);
  probe.postMessage("stop");
  const [probes] = (await Promise.race([
    once(probe, "message"),
    once(probe, "exit").then(() => [[{ at: 0, ms: Number.POSITIVE_INFINITY }]]),
  ])) as [Probe[]];
  await probe.terminate();
  await passed(rest);
  clearInterval(sampler);
  const after = await resident(server.pid);
  const slowest = Math.max(...probes.map((one) => one.ms));
  return {
    load: load.name,
    slowest,
    peak: peak - before,
    after: after - before,
    tally,
    completed,
    failed,
  };
}

/** Bytes of a process in memory; none of one that has ended, or where the system does not tell. */
async function resident(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
}

function mib(bytes: number): string {
  return `${count(bytes / 1024 / 1024)} MiB`;
}
