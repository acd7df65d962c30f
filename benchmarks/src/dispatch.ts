import type { RecordedEvent } from "@engine/contract";
import type { HttpClient } from "./http-client.ts";
import { gateLogs, recordedAt } from "./log-gates.ts";
import type { Measure } from "./measure.ts";
import { mean, median, percentile } from "./stats.ts";
import { ms } from "./table.ts";

const PAYLOAD = "x".repeat(256);
const DRAIN_LIMIT_MS = 30_000;

/** From the commit that creates an execution to the one that says its body runs. */
export const dispatch: Measure = {
  name: "dispatch",
  async run(bench) {
    const { client } = await bench.engine();
    const runs = bench.quick ? 40 : 300;
    const idle = await idleLogs(client, runs);
    const backToBack = await backToBackLogs(client, runs);
    const [a, b] = [idle.map(startLatency), backToBack.map(startLatency)];
    return {
      tables: [
        {
          title: "Dispatch, WORKFLOW_CREATED to WORKFLOW_STARTED by recorded_at (whole ms)",
          columns: ["load", "p50", "p95", "p99", "mean", "samples"],
          rows: [row("idle, one after another", a), row("all submitted back to back", b)],
        },
      ],
      figures: {
        idle_p50_ms: median(a),
        idle_p99_ms: percentile(a, 99),
        idle_mean_ms: mean(a),
        back_to_back_p50_ms: median(b),
        back_to_back_p99_ms: percentile(b, 99),
      },
      samples: { idle_ms: a, back_to_back_ms: b },
    };
  },
};

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
