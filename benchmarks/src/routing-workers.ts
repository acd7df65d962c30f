import { fileURLToPath } from "node:url";
import { atATime } from "./at-a-time.ts";
import { type BenchProcess, startProcess } from "./bench-process.ts";
import { type Cleanup, stopAll } from "./cleanup.ts";
import { startTwoProcesses, type TwoProcesses } from "./engine.ts";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import type { Bench, Report } from "./measure.ts";
import { mostOpenFiles } from "./open-files.ts";
import { LETS_MANY_REGISTER } from "./raw-workers.ts";
import { ratios } from "./routing-engine.ts";
import { sharedClock } from "./shared-clock.ts";
import { median, percentile } from "./stats.ts";
import { count, ms } from "./table.ts";
import { passed } from "./until.ts";

const FEW = 10;
const MANY = { full: 10_000, quick: 100 };
const ROUNDS = { full: 5, quick: 2 };
const BLOCK = { full: 50, quick: 20 };
const WARM_UP = { full: 5_000, quick: 200 };
/** Connections and files that a server has besides those of its workers. */
const OTHERS_OPEN = 1_000;
/** Their first heartbeats have been told to the store. */
const SETTLE_MS = { full: 15_000, quick: 1_000 };
/** Far above what a run takes: it went to a worker that can run nothing. */
const LOST_MS = 30_000;
const PROGRAM = fileURLToPath(new URL("./idle-workers.ts", import.meta.url));

interface Side {
  readonly name: string;
  readonly engine: TwoProcesses;
  readonly idle: BenchProcess;
  readonly p50: number[];
  readonly taken: number[];
}

/** How long a fresh execution waits for its start where very many workers have nothing to do. */
export async function besideIdleWorkers(bench: Bench): Promise<Report> {
  const profile = bench.quick ? "quick" : "full";
  const allowed = (mostOpenFiles() ?? Number.POSITIVE_INFINITY) - OTHERS_OPEN;
  const many = Math.min(MANY[profile], Math.max(FEW, allowed));
  const cleanup: Cleanup = [];
  const start = async (workers: number): Promise<Side> => {
    const engine = await startTwoProcesses(bench.setup, { env: LETS_MANY_REGISTER });
    cleanup.push(() => engine.stop());
    // Before the others are there, who would be given what is started at once, and cannot run it.
    await atATime(64, Array(WARM_UP[profile]).keys(), () => engine.client.run("stamp", null));
    bench.tell(`connecting ${count(workers)} idle workers …`);
    const options = { cwd: engine.home, env: {}, nodeArgs: ["--conditions=@engine/source"] };
    const idle = startProcess("idle workers", [PROGRAM, engine.url, String(workers)], options);
    cleanup.push(() => idle.stop());
    await connected(idle);
    return { name: `${count(workers)} idle workers`, engine, idle, p50: [], taken: [] };
  };
  try {
    const few = await start(FEW);
    const crowd = await start(many);
    await passed(SETTLE_MS[profile]);
    for (let round = -1; round < ROUNDS[profile]; round++) {
      bench.tell(round < 0 ? "warming up, by turns" : `idle workers, round ${round + 1}, by turns`);
      for (const side of round % 2 ? [crowd, few] : [few, crowd]) {
        const taken = await startTimes(side.engine.client, BLOCK[profile]);
        if (round < 0) continue;
        side.p50.push(median(taken));
        side.taken.push(...taken);
      }
    }
    for (const { name, idle } of [few, crowd]) {
      gate(!idle.ended, () => `${name}: ${failureOf(idle)}`);
    }
    return report(few, crowd, many < MANY[profile] ? MANY[profile] : undefined);
  } finally {
    await stopAll(cleanup);
  }
}

/** Longer than a program of ours is given to print something: they are many. */
async function connected(idle: BenchProcess): Promise<void> {
  while (!idle.ended && !/^idle \d+ end$/m.test(idle.output)) await passed(50);
  gate(!idle.ended, () => `the idle workers did not connect: ${failureOf(idle)}`);
}

function failureOf({ output }: BenchProcess): string {
  return /^\w*Error: .*/m.exec(output)?.[0] ?? output;
}

/** From the request to the first line of the body, one after another: always on the only real worker. */
async function startTimes(client: HttpClient, runs: number): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < runs; i++) {
    const asked = sharedClock();
    const record = await Promise.race([client.run("stamp", null), passed(LOST_MS)]);
    gate(!!record, () => `a run was not done after ${LOST_MS} ms; was it given to an idle worker?`);
    taken.push(Number(record.output) - asked);
  }
  return taken;
}

function report(few: Side, crowd: Side, wanted: number | undefined): Report {
  const ratio = median(ratios(crowd.p50, few.p50));
  const rows = [few, crowd].map(({ name, p50, taken }) => [
    name,
    ms(median(p50)),
    ms(percentile(taken, 99)),
    String(taken.length),
  ]);
  rows.push(["many ÷ few", ratio.toFixed(2), "", ""]);
  const fewer = wanted ? `; ${count(wanted)} need a higher limit of open files (ulimit -n)` : "";
  return {
    tables: [
      {
        title: `From the request to the first line of the body beside idle workers, by turns${fewer}`,
        columns: ["", "p50", "p99", "samples"],
        rows,
      },
    ],
    figures: {
      "beside idle workers, p50 ratio": ratio,
      "few idle workers: p50 ms": median(few.p50),
      "many idle workers: p50 ms": median(crowd.p50),
    },
    samples: { "few idle workers: ms": few.taken, "many idle workers: ms": crowd.taken },
  };
}
