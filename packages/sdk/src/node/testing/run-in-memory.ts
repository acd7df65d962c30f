import { type AnyWorkflow, type Task, task } from "../../index.ts";
import { nodeHost } from "../host.ts";
import { MemoryExecution } from "./memory-execution.ts";

const host = nodeHost();

export const double: Task<number, number> = task({ name: "double" }, async (n: number) => n * 2);

export function start(wf: AnyWorkflow, input?: unknown): MemoryExecution {
  return new MemoryExecution(wf, input, host);
}

/** To the end, or to the first pause. */
export async function run(wf: AnyWorkflow, input?: unknown): Promise<MemoryExecution> {
  const execution = start(wf, input);
  await execution.run();
  return execution;
}

export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
