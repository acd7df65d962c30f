import { type ExecutionRecord, failureOf } from "@engine/contract";
import { expect, test } from "vitest";
import type { Deadly } from "../fixtures/deadly.ts";
import { startCluster } from "../harness/cluster.ts";
import { startEngine } from "../harness/engine.ts";
import type { EngineAccess, Env } from "../harness/engine-access.ts";
import { until } from "../harness/until.ts";
import { untilAllEnded } from "../kill/all-executions.ts";
import { Supervised } from "../sweep/supervised.ts";

/** Each of a number that are suspected costs a process: where all are, fewer show as much. */
const MANY = 65;
const SOME = 20;
const WORK_MS = 300;
const LIMIT_MS = 240_000;
/** All at once, so that whoever dies has everybody beside it. */
const TOGETHER = { ENGINE_WORKERS__SLOTS: "100" };

test.each<[Deadly, number, number]>([
  ["throws", 1, MANY],
  ["throws", 2, MANY],
])(
  "LIV-5 RUN-2 what %s on its thread fails alone: %i of it, on as many threads, fail none of %i others",
  async (how, killers, others) => {
    await using engine = await startEngine({ workers: [] });
    const worker = { ...TOGETHER, ENGINE_WORKERS__THREADS: `${killers}` };
    const { guilty, innocent } = await trial(engine, { how, killers, others, worker });
    expect(innocent.map(fate)).toEqual(innocent.map(() => "COMPLETED"));
    expect(guilty.map(fate)).toEqual(guilty.map(() => "WorkerCrashLoopError"));
    for (const { error } of guilty) {
      expect(error && failureOf(error).details?.["attempts"]).toHaveLength(5);
    }
  },
  LIMIT_MS,
);

const STORES = [
  ["SQLite", MANY, () => startEngine({ workers: [], store: "sqlite" })],
  ["two servers on PostgreSQL", SOME, () => startCluster({ workers: [] })],
] as const;

test.each(STORES)(
  "LIV-5 what kills its worker's process fails alone, though it takes all that the worker runs along: %s",
  async (_, others, start) => {
    await using engine = await start();
    const of = { how: "kills the process", killers: 1, others, worker: TOGETHER } as const;
    const { guilty, innocent, deaths } = await trial(engine, of);
    expect(innocent.map(fate)).toEqual(innocent.map(() => "COMPLETED"));
    expect(guilty.map(fate)).toEqual(["WorkerCrashLoopError"]);
    expect(deaths, "once it is suspected, it has a process of its own").toBe(5);
  },
  LIMIT_MS,
);

interface Trial {
  readonly how: Deadly;
  readonly killers: number;
  readonly others: number;
  readonly worker: Env;
}

interface Outcome {
  readonly guilty: readonly ExecutionRecord[];
  readonly innocent: readonly ExecutionRecord[];
  /** How often the worker's process has died. */
  readonly deaths: number;
}

/** Queues everything before there is a worker, and lets one worker have it at once. */
async function trial(
  engine: EngineAccess,
  { how, killers, others, worker }: Trial,
): Promise<Outcome> {
  await engine.register("deadly");
  const many = (count: number, workflow: string, input: unknown) =>
    Promise.all(Array.from({ length: count }, () => engine.start(workflow, input)));
  const [guilty, innocent] = await Promise.all([
    many(killers, "deadly", how),
    many(others, "innocent", WORK_MS),
  ]);
  const supervised = new Supervised(() => engine.startWorker("one", worker));
  supervised.start();
  try {
    const began = performance.now();
    const records = (ids: readonly string[]) => Promise.all(ids.map((id) => engine.untilEnded(id)));
    await until(
      "the innocent have ended",
      async () => {
        const some = await Promise.all(innocent.map((id) => engine.http.execution(id)));
        return some.every(({ finished_at }) => finished_at !== null);
      },
      LIMIT_MS,
    );
    const innocentMs = performance.now() - began;
    await untilAllEnded(engine, LIMIT_MS);
    process.stderr.write(
      `${killers} × ${how}: ${others} others ended after ${Math.round(innocentMs)} ms, all after ${Math.round(performance.now() - began)} ms; the worker's process died ${supervised.ends.length} times\n`,
    );
    return {
      guilty: await records(guilty),
      innocent: await records(innocent),
      deaths: supervised.ends.length,
    };
  } finally {
    supervised.letEnd();
  }
}

function fate({ state, error }: ExecutionRecord): string {
  return error ? failureOf(error).type : state;
}
