import type { RecordedEvent } from "@engine/contract";
import { gate } from "./gate.ts";

/** How one execution went on after its worker was killed. */
export interface TakenOver {
  /** Milliseconds from the kill to the first event from the other worker. */
  readonly after: number;
  /** The same to its end. */
  readonly ended: number;
  /** How many task calls had a recorded outcome when the other worker took it over. */
  readonly completed: number;
}

/** Reads from its log that one other worker took an execution over and ended it. */
export function takenOver(
  id: string,
  log: readonly RecordedEvent[],
  { worker, at }: { readonly worker: string; readonly at: number },
): TakenOver {
  const claims = log.flatMap((event, i) => (event.type === "WORKFLOW_CLAIMED" ? [i] : []));
  gate(claims.length === 2, () => `${id} was claimed ${claims.length} times, expected 2`);
  const taken = claims[1] ?? 0;
  const claim = log[taken]?.value as { worker?: string } | undefined;
  gate(claim?.worker === worker, () => `${id} went to ${claim?.worker}, not to ${worker}`);
  // The claim is the server's; what follows it comes from the worker.
  const first = log[taken + 1];
  const last = log.at(-1);
  gate(first !== undefined && last?.type === "WORKFLOW_COMPLETED", () => `${id} has not completed`);
  return {
    after: Date.parse(first.recorded_at) - at,
    ended: Date.parse(last.recorded_at) - at,
    completed: log.slice(0, taken).filter(({ type }) => type === "TASK_COMPLETED").length,
  };
}

/**
 * How many bodies ran more than once; `[execution, number of the task]` for each time one ran. Tasks
 * that follow one another leave one call open at a time: the first without a recorded outcome, whether
 * or not its start was recorded (decision 0004). Only that one may run again, and once.
 */
export function bodiesAgain(
  ran: readonly (readonly [id: string, task: number])[],
  over: ReadonlyMap<string, TakenOver>,
): number {
  const times = new Map<string, number>();
  for (const [id, task] of ran) {
    const body = `task ${task} of ${id}`;
    const before = times.get(body) ?? 0;
    times.set(body, before + 1);
    if (before === 0) continue;
    const open = over.get(id)?.completed;
    gate(before === 1, () => `${body} ran ${before + 1} times`);
    gate(task === open, () => `${body} ran again; task ${open} was the open one`);
  }
  return ran.length - times.size;
}
