import { gate } from "../gate.ts";
import { submitFor } from "../submit.ts";
import type { Load, Loaded } from "./contestant.ts";

/** Calls once for each workflow and waits for its output: a client, or the process that runs them. */
export async function loadByCalls(
  { tasks, concurrency, until }: Load,
  run: (tasks: number) => Promise<unknown>,
): Promise<Loaded> {
  const times: number[] = [];
  const once = async () => {
    const start = performance.now();
    const output = await run(tasks);
    times.push(performance.now() - start);
    gate(output === tasks, () => `a workflow of ${tasks} tasks answered ${output}`);
  };
  if ("milliseconds" in until) {
    return { times, elapsed: await submitFor(until.milliseconds, concurrency, once) };
  }
  const start = performance.now();
  for (let i = 0; i < until.runs; i++) await once();
  return { times, elapsed: performance.now() - start };
}
