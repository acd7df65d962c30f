import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { atATime } from "./at-a-time.ts";
import { startTwoProcesses, type TwoProcesses } from "./engine.ts";
import { gate } from "./gate.ts";
import { gateCount, gateDense } from "./log-gates.ts";
import type { Measure } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { count, ms } from "./table.ts";
import { bodiesAgain, type TakenOver, takenOver } from "./taken-over.ts";
import { until } from "./until.ts";

const STANDBY = "standby";
/** Together longer than it takes the other worker to start. */
const TASKS = 20;
const TASK_MS = 250;
const LIMIT_MS = 60_000;

/** kill -9 of the worker that runs everything; another one stands by, connected and idle. */
export const failover: Measure = {
  name: "failover",
  means: "kill -9 of the worker of 200 executions, until another goes on",
  async run(bench) {
    const executions = bench.quick ? 50 : 200;
    const kills: Kill[] = [];
    for (let i = 0; i < (bench.quick ? 1 : 5); i++) {
      const engine = await startTwoProcesses(bench.setup);
      try {
        kills.push(await killOnce(engine, executions));
      } finally {
        await engine.stop();
      }
    }
    const continued = kills.flatMap((kill) => kill.over.map(({ after }) => after));
    const ended = kills.map((kill) => Math.max(...kill.over.map(({ ended }) => ended)));
    const again = kills.map((kill) => kill.again);
    return {
      tables: [
        {
          title: `kill -9 of the worker of ${executions} executions, ${kills.length} times`,
          columns: ["from the kill", "p50", "p99", "max", "samples"],
          rows: [
            row("to the first event from the other worker", continued),
            row("to the end of the last execution", ended),
          ],
        },
        {
          title: "Task bodies that ran again",
          columns: ["", "again", "of open at most"],
          rows: [["all kills", count(sum(again)), count(kills.length * executions)]],
        },
      ],
      figures: {
        first_event_p50_ms: median(continued),
        first_event_p99_ms: percentile(continued, 99),
        first_event_max_ms: percentile(continued, 100),
        all_ended_p50_ms: median(ended),
        bodies_again: sum(again),
      },
      samples: { first_event_ms: continued, all_ended_ms: ended },
    };
  },
};

interface Kill {
  readonly over: readonly TakenOver[];
  /** Task bodies that ran more than once. */
  readonly again: number;
}

async function killOnce(engine: TwoProcesses, executions: number): Promise<Kill> {
  const { client, home, worker } = engine;
  const file = join(home, "bodies.txt");
  const input = { file, tasks: TASKS, ms: TASK_MS };
  const ids = await atATime(32, Array(executions).keys(), () => client.start("laborer", input));
  await until(async () => new Set((await bodies(file)).map(([id]) => id)).size === executions, {
    limitMs: LIMIT_MS,
    everyMs: 20,
    late: () => "not all executions have begun",
  });
  await engine.startWorker(STANDBY);
  const at = Date.now();
  await worker.kill();
  await client.untilCompleted("laborer", executions, LIMIT_MS);

  const over = new Map<string, TakenOver>();
  await atATime(8, ids, async (id) => {
    const log = await client.log(id);
    gateDense(id, log);
    gateCount(id, log, "TASK_COMPLETED", TASKS);
    over.set(id, takenOver(id, log, { worker: STANDBY, at }));
  });
  const ran = await bodies(file);
  const different = new Set(ran.map((body) => body.join(" "))).size;
  gate(different === executions * TASKS, () => `${different} of ${executions * TASKS} bodies ran`);
  return { over: [...over.values()], again: bodiesAgain(ran, over) };
}

/** A line for each body that ran: the execution and the number of the task. */
async function bodies(file: string): Promise<[id: string, task: number][]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [id = "", task = ""] = line.split(" ");
    return task === "" ? [] : [[id, Number(task)] as [string, number]];
  });
}

function row(label: string, taken: readonly number[]): string[] {
  return [label, ...[50, 99, 100].map((p) => ms(percentile(taken, p))), `${taken.length}`];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
