import type { History } from "@engine/contract";
import { replayHistory } from "@engine/sdk/node";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { gateDense } from "./log-gates.ts";
import type { Measure } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { ms } from "./table.ts";
import { fan } from "./workflows/bench-workflows.ts";

const BRANCHES = 1_000;

/** A wide workflow: to its end on a server and a worker, and then again from its recorded history. */
export const branches: Measure = {
  name: "branches",
  means: "1,000 parallel tasks of one workflow",
  async run(bench) {
    const { client } = await bench.engine();
    const samples = { run_ms: [] as number[], replay_ms: [] as number[] };
    for (let i = 0; i < (bench.quick ? 3 : 20); i++) {
      const start = performance.now();
      const { execution_id, output } = await client.run("fan", BRANCHES);
      samples.run_ms.push(performance.now() - start);
      gate(output === (BRANCHES * (BRANCHES + 1)) / 2, () => `fan(${BRANCHES}) answered ${output}`);
      samples.replay_ms.push(await replayed(client, execution_id));
    }
    const row = (label: string, taken: readonly number[]) => {
      return [label, ms(median(taken)), ms(percentile(taken, 99)), `${taken.length}`];
    };
    return {
      tables: [
        {
          title: `A workflow of ${BRANCHES} parallel branches, one task each`,
          columns: ["", "p50", "p99", "samples"],
          rows: [
            row("run, from the request to the answer", samples.run_ms),
            row("replay of its history (replayHistory)", samples.replay_ms),
          ],
        },
      ],
      figures: { run_p50_ms: median(samples.run_ms), replay_p50_ms: median(samples.replay_ms) },
      samples,
    };
  },
};

/** How long the replay took; that it takes the recorded way is the gate. */
async function replayed(client: HttpClient, id: string): Promise<number> {
  const log = await client.log(id);
  gateDense(id, log);
  const steps = log.filter(({ type, name }) => type === "TASK_COMPLETED" && name === "step");
  const calls = new Set(steps.map(({ source_id }) => source_id));
  gate(steps.length === BRANCHES, () => `${id}: ${steps.length} of ${BRANCHES} steps completed`);
  gate(calls.size === BRANCHES, () => `${id}: a step completed twice`);

  const history = await client.get<History>(`/executions/${id}/history`);
  const start = performance.now();
  const verdict = await replayHistory(fan, history);
  const taken = performance.now() - start;
  gate(verdict.result === "ok", () => `${id} replays as ${JSON.stringify(verdict)}`);
  return taken;
}
