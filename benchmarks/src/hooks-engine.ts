import type { Cleanup } from "./cleanup.ts";
import { register, startTwoProcesses, type TwoProcesses } from "./engine.ts";
import type { HttpClient } from "./http-client.ts";
import type { Bench } from "./measure.ts";

const WORKFLOWS = "benchmarks/src/workflows/hooks-workflows.ts";
const TARGET = "bench/landed";

/** An engine of its own that also knows what hooks wait for and what they start. */
export async function startHooksEngine(
  bench: Bench,
  cleanup: Cleanup,
  env: Readonly<Record<string, string>> = {},
): Promise<TwoProcesses> {
  const engine = await startTwoProcesses(bench.setup, { env });
  cleanup.push(() => engine.stop());
  await register(engine.url, engine.home, { workflows: WORKFLOWS });
  return engine;
}

export interface HookMade {
  readonly name: string;
  readonly selectors: readonly string[];
  readonly workflow?: string;
  readonly max_attempts?: number;
}

export async function makeHook(
  client: HttpClient,
  { workflow = TARGET, ...hook }: HookMade,
): Promise<void> {
  await client.post("/hooks", { ...hook, workflow, principal: "bench" });
}

/** Outputs of what has completed after the first `skipped`, in no order. */
export async function outputsAfter(
  client: HttpClient,
  workflow: string,
  skipped: number,
): Promise<readonly number[]> {
  const total = await client.countExecutions(workflow, "COMPLETED");
  const outputs: number[] = [];
  // Newest first.
  for (let offset = 0; offset < total - skipped; offset += PAGE) {
    const limit = Math.min(PAGE, total - skipped - offset);
    const page = await client.get<{ items: readonly { execution_id: string }[] }>(
      `/workflows/bench/${workflow}/executions?state=COMPLETED&limit=${limit}&offset=${offset}`,
    );
    for (const { execution_id } of page.items) {
      const { output } = await client.get<{ output: number }>(`/executions/${execution_id}`);
      outputs.push(Number(output));
    }
  }
  return outputs;
}

const PAGE = 100;
