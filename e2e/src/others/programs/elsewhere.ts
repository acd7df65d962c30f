/** Workflows that run in another way than others, and what a workflow knows of itself. */
import {
  ConfigMissingError,
  getConfig,
  pause,
  sleep,
  TransientUnsupportedError,
  task,
  workflow,
} from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";
import { add, echo } from "./tasks.ts";

export const transientSum = workflow(
  { name: "transient_sum", durability: "transient" },
  async (numbers: readonly number[]) => {
    let sum = 0;
    for (const n of numbers) sum = await add([sum, n]);
    return sum;
  },
);

export const transientWaits = workflow(
  { name: "transient_waits", durability: "transient" },
  async () => {
    try {
      return await pause("ask");
    } catch (error) {
      return error instanceof TransientUnsupportedError ? "cannot wait" : error;
    }
  },
);

export const inAProcess = workflow({ name: "in_a_process", runner: "process" }, async () => {
  const first = await echo("first");
  await sleep(60);
  const second = await echo("second");
  return [first, second];
});

const computes = task({ name: "computes" }, async (ms: number, ctx) => {
  await did(ctx, `computes ${ms}`);
  const end = performance.now() + ms;
  let rounds = 0;
  while (performance.now() < end) rounds++;
  return rounds > 0;
});

export const computesInAProcess = workflow(
  { name: "computes_in_a_process", runner: "process" },
  async () => [await computes(300), await computes(10)],
);

export const computesOnAThread = workflow({ name: "computes_on_a_thread" }, async () => {
  const results = [await computes(150), await computes(10)];
  await sleep(15);
  return results;
});

export const knowsItself = workflow({ name: "knows_itself" }, async (input: unknown, ctx) => {
  const before = ctx.events.length;
  await echo("one");
  await sleep(15);
  const { execution_id } = JSON.parse(JSON.stringify(ctx)) as { readonly execution_id: string };
  return {
    name: ctx.name,
    namespace: ctx.namespace,
    version: ctx.version,
    input: JSON.stringify(ctx.input) === JSON.stringify(input),
    id: execution_id === ctx.executionId,
    grows: ctx.events.length > before,
    ends: [ctx.finished, ctx.failed, ctx.cancelled, ctx.output],
  };
});

export const readsTheLog = workflow({ name: "reads_the_log" }, async (_, ctx) => {
  const lengths: number[] = [];
  for (let i = 0; i < 4; i++) {
    await echo(`${i} ${ctx.events.map(({ type }) => type).join(" ")}`);
    lengths.push(ctx.events.length);
    await sleep(10);
  }
  return lengths.every((length, i) => i === 0 || length > (lengths[i - 1] ?? 0));
});

export const missesAConfig = workflow({ name: "misses_a_config" }, async () => {
  try {
    return await getConfig("nobody_set_this");
  } catch (error) {
    return error instanceof ConfigMissingError ? echo("missing") : error;
  }
});

export const nothingAtAll = workflow({ name: "nothing_at_all" }, () => {});

export const notEvenAPromise = workflow({ name: "not_even_a_promise" }, (n: number) => n + 1);

export const givesBackCalls = workflow({ name: "gives_back_calls" }, () =>
  echo("a").then((a) => echo(`${a}b`).then((b) => echo(`${b}c`))),
);

export const elsewhere: Programs = {
  transient_sum: {
    sees: "a workflow that keeps no log gives its result, or is lost with its worker",
    isTouchy: true,
    input: [1, 2, 3],
    right: ({ state, output, failure }) =>
      state === "COMPLETED" ? output === 6 : failure?.type === "WorkerLostError",
  },
  transient_waits: {
    sees: "a workflow that keeps no log cannot wait, which can be caught",
    right: ({ output, failure }) => output === "cannot wait" || failure?.type === "WorkerLostError",
  },
  in_a_process: {
    sees: "a workflow in a process of its own sleeps and goes on like any other",
    output: ["first", "second"],
    did: ["echo first", "echo second"],
  },
  computes_in_a_process: {
    sees: "tasks that leave their process to nobody come to their end",
    output: [true, true],
    did: ["computes 300", "computes 10"],
  },
  computes_on_a_thread: {
    sees: "tasks that leave their thread to nobody for a while come to their end",
    output: [true, true],
    did: ["computes 150", "computes 10"],
  },
  knows_itself: {
    sees: "a workflow knows its name, version, id, input and how far it has come",
    input: { a: [1] },
    output: {
      ...{ name: "knows_itself", namespace: "default", version: 1 },
      ...{ input: true, id: true, grows: true, ends: [false, false, false, null] },
    },
  },
  reads_the_log: {
    sees: "what a workflow reads of its own log is the same whenever it reads it",
    right: ({ output, did }) => output === true && did.length === 4,
  },
  misses_a_config: {
    sees: "a setting that nobody has made is missing, which can be caught",
    output: "missing",
    did: ["echo missing"],
  },
  nothing_at_all: {
    sees: "a workflow that gives nothing has completed with nothing",
    output: null,
    did: [],
  },
  not_even_a_promise: {
    sees: "a workflow that waits for nothing gives its result",
    input: 1,
    output: 2,
    did: [],
  },
  gives_back_calls: {
    sees: "calls that follow each other without being awaited by name are done in their order",
    output: "abc",
    did: ["echo a", "echo ab", "echo abc"],
  },
};
