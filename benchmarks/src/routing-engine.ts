import type { Cleanup } from "./cleanup.ts";
import {
  register,
  startTwoProcesses,
  type TwoProcesses,
  type TwoProcessesOptions,
} from "./engine.ts";
import type { Bench } from "./measure.ts";

const WORKFLOWS = "benchmarks/src/workflows/routing-workflows.ts";

/** An engine of its own that also knows the workflows with an affinity or limits. */
export async function startRoutingEngine(
  bench: Bench,
  cleanup: Cleanup,
  options: TwoProcessesOptions = {},
): Promise<TwoProcesses> {
  const engine = await startTwoProcesses(bench.setup, options);
  cleanup.push(() => engine.stop());
  await register(engine.url, engine.home, { workflows: WORKFLOWS });
  return engine;
}

/** The value of each round of one side divided by that of the other in the same round. */
export function ratios(values: readonly number[], of: readonly number[]): readonly number[] {
  return values.map((value, i) => value / (of[i] ?? Number.NaN));
}
