import { pause, task, workflow } from "@engine/sdk";

const step = task({ name: "step" }, (n: number) => n + 1);

/** A task whose result the next one needs, as often as asked. */
export const chain = workflow(
  { name: "chain", namespace: "bench" },
  async (tasks: number): Promise<number> => {
    let n = 0;
    while (n < tasks) n = await step(n);
    return n;
  },
);

const repeat = task({ name: "repeat" }, (payload: string) => payload);

export const echo = workflow(
  { name: "echo", namespace: "bench" },
  (payload: string): Promise<string> => repeat(payload),
);

// Bodies that ran in this process, by execution: what a replay must not add to.
const ran = new Map<string, number>();

const countedStep = task({ name: "counted_step" }, (n: number, { executionId }) => {
  ran.set(executionId, (ran.get(executionId) ?? 0) + 1);
  return n + 1;
});

const bodiesRun = task(
  { name: "bodies_run" },
  (_: null, { executionId }): number => ran.get(executionId) ?? 0,
);

/** Builds a history, pauses, and says afterwards how many of its bodies this process ran. */
export const history = workflow(
  { name: "history", namespace: "bench" },
  async (tasks: number): Promise<number> => {
    let n = 0;
    while (n < tasks) n = await countedStep(n);
    await pause("built");
    return await bodiesRun(null);
  },
);
