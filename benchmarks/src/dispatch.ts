import type { RecordedEvent } from "@engine/contract";
import type { HttpClient } from "./http-client.ts";
import { gateLogs, recordedAt } from "./log-gates.ts";
import type { Bench, Measure, Report } from "./measure.ts";
import { sharedClock } from "./shared-clock.ts";
import { mean, median, percentile } from "./stats.ts";
import { ms } from "./table.ts";

const PAYLOAD = "x".repeat(256);
const DRAIN_LIMIT_MS = 30_000;

/** From the commit that creates an execution to the one that says its body runs. */
export const dispatch: Measure = {
  name: "dispatch",
  means: "from a request to the first line of the body",
  async run(bench) {
    const { client } = await bench.engine();
    return measureDispatch(client, bench, "server and worker as processes");
  },
};

export async function measureDispatch(
  client: HttpClient,
  bench: Bench,
  where: string,
): Promise<Report> {
  const runs = bench.quick ? 40 : 300;
  const bodies = await untilBodies(client, runs);
  const idle = (await idleLogs(client, runs)).map(startLatency);
  const backToBack = (await backToBackLogs(client, runs)).map(startLatency);
  return {
    tables: [
      {
        title: `Dispatch, ${where}; by recorded_at in whole ms`,
        columns: ["from, to, load", "p50", "p95", "p99", "mean", "samples"],
        rows: [
          row("request to the body's first line, idle", bodies),
          row("WORKFLOW_CREATED to WORKFLOW_STARTED, idle", idle),
          row("the same, all submitted back to back", backToBack),
        ],
      },
    ],
    figures: {
      body_p50_ms: median(bodies),
      body_p99_ms: percentile(bodies, 99),
      idle_p50_ms: median(idle),
      idle_p99_ms: percentile(idle, 99),
      idle_mean_ms: mean(idle),
      back_to_back_p50_ms: median(backToBack),
      back_to_back_p99_ms: percentile(backToBack, 99),
    },
    samples: { body_ms: bodies, idle_ms: idle, back_to_back_ms: backToBack },
  };
}

/** By a clock that all processes share, so that no commit is part of it but that of the start. */
export async function untilBodies(client: HttpClient, runs: number): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < runs; i++) {
    const asked = sharedClock();
    const { output } = await client.run("stamp", null);
    taken.push(Number(output) - asked);
  }
  return taken;
}

async function idleLogs(client: HttpClient, runs: number): Promise<RecordedEvent[][]> {
  const ids: string[] = [];
  for (let i = 0; i < runs; i++) ids.push((await client.run("echo", PAYLOAD)).execution_id);
  return gateLogs(client, ids, 1);
}

async function backToBackLogs(client: HttpClient, runs: number): Promise<RecordedEvent[][]> {
  const before = await client.countExecutions("echo", "COMPLETED");
  const starts = Array.from({ length: runs }, () =>
    client.post("/workflows/bench/echo/run/async", PAYLOAD),
  );
  const ids = (await Promise.all(starts)).map((record) => record.execution_id);
  await client.untilCompleted("echo", before + runs, DRAIN_LIMIT_MS);
  return gateLogs(client, ids, 1);
}

function startLatency(log: readonly RecordedEvent[]): number {
  return recordedAt(log, "WORKFLOW_STARTED") - recordedAt(log, "WORKFLOW_CREATED");
}

function row(load: string, taken: readonly number[]): string[] {
  const figures = [median(taken), percentile(taken, 95), percentile(taken, 99), mean(taken)];
  return [load, ...figures.map(ms), String(taken.length)];
}
