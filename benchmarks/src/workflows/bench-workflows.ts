import { call, parallel, pause, sleep, task, workflow } from "@engine/sdk";

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

// What ran in this thread, by execution: a replay starts the workflow's body again and runs no task
// again, a copy that waited in memory does neither. Only for measuring: a body that reads or changes
// what is outside it would diverge.
const ran = new Map<string, number>();
const started = new Map<string, number>();

const countedStep = task({ name: "counted_step" }, (n: number, { executionId }) => {
  ran.set(executionId, (ran.get(executionId) ?? 0) + 1);
  return n + 1;
});

export interface WhatRan {
  readonly tasks: number;
  readonly bodies: number;
}

const whatRan = task(
  { name: "what_ran" },
  (_: null, { executionId }): WhatRan => ({
    tasks: ran.get(executionId) ?? 0,
    bodies: started.get(executionId) ?? 0,
  }),
);

/** Builds a history, pauses, and says afterwards what of it ran in the thread that ended it. */
export const history = workflow(
  { name: "history", namespace: "bench" },
  async (tasks: number, { executionId }): Promise<WhatRan> => {
    started.set(executionId, (started.get(executionId) ?? 0) + 1);
    let n = 0;
    while (n < tasks) n = await countedStep(n);
    await pause("built");
    return await whatRan(null);
  },
);

/** Branches of one task each, all at once. */
export const fan = workflow(
  { name: "fan", namespace: "bench" },
  async (branches: number): Promise<number> => {
    const results = await parallel(Array.from({ length: branches }, (_, i) => () => step(i)));
    return results.reduce((sum, n) => sum + n, 0);
  },
);

/** Children of one task each, all at once; it waits for them without a slot. */
export const family = workflow(
  { name: "family", namespace: "bench" },
  async (children: number): Promise<number> => {
    const outputs = await parallel(Array.from({ length: children }, () => () => call(chain, 1)));
    return outputs.reduce((sum, n) => sum + n, 0);
  },
);

/** Sleeps until an instant, in milliseconds since 1970. */
export const sleeper = workflow(
  { name: "sleeper", namespace: "bench" },
  async (until: number): Promise<number> => {
    await sleep(new Date(until));
    return until;
  },
);
