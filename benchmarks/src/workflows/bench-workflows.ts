import { appendFileSync } from "node:fs";
import { call, parallel, pause, progress, sleep, task, workflow } from "@engine/sdk";

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

/**
 * When its body began, by a clock that all processes of the machine share. Only for measuring: a body
 * that reads a clock of its own would diverge.
 */
export const stamp = workflow(
  { name: "stamp", namespace: "bench" },
  (_: null): Promise<number> => Promise.resolve(Number(process.hrtime.bigint()) / 1e6),
);

export interface Labor {
  /** Where each body writes a line when it runs. */
  readonly file: string;
  readonly tasks: number;
  /** Of each task. */
  readonly ms: number;
}

const labor = task(
  { name: "labor" },
  async ({ file, ms, n }: Labor & { n: number }, { executionId }) => {
    appendFileSync(file, `${executionId} ${n}\n`);
    await new Promise((resolve) => setTimeout(resolve, ms));
  },
);

/** Tasks that take a while and leave a line for each time their body ran. */
export const laborer = workflow(
  { name: "laborer", namespace: "bench" },
  async (input: Labor): Promise<number> => {
    for (let n = 0; n < input.tasks; n++) await labor({ ...input, n });
    return input.tasks;
  },
);

export interface Ticks {
  /** Milliseconds since 1970, of the first one. */
  readonly from: number;
  readonly items: number;
  readonly perSecond: number;
}

/** With the numbers beside it 150 bytes of JSON. */
const PADDING = "x".repeat(105);

const tick = task({ name: "tick" }, async ({ from, items, perSecond }: Ticks) => {
  for (let n = 0; n < items; ) {
    const at = performance.timeOrigin + performance.now();
    const due = Math.min(items, Math.floor(((at - from) * perSecond) / 1000) + 1);
    while (n < due) progress({ n: n++, at, padding: PADDING });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return items;
});

/** One task that tells of its progress at an even rate. */
export const ticker = workflow(
  { name: "ticker", namespace: "bench" },
  (ticks: Ticks): Promise<number> => tick(ticks),
);

/** Takes whatever it is given. */
export const swallow = workflow(
  { name: "swallow", namespace: "bench" },
  (input: unknown): Promise<string> => Promise.resolve(typeof input),
);

const page = task({ name: "page" }, (n: number) => `${n} `.padEnd(200_000, "x"));

/** A log that is long in bytes: 200 KB for each event. */
export const talker = workflow(
  { name: "talker", namespace: "bench" },
  async (events: number): Promise<number> => {
    for (let n = 0; n < events; n++) await page(n);
    return events;
  },
);
