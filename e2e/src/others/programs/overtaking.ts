/** Messages that arrive while a workflow runs on: each of them comes between two of its lines. */
import { call, now, parallel, pause, random, signal, sleep, uuid, workflow } from "@engine/sdk";
import type { Outside } from "../outside.ts";
import type { Program, Programs } from "../program.ts";
import { add, echo } from "./tasks.ts";

export const chainOfSteps = workflow({ name: "chain_of_steps" }, async () => {
  const seen: number[] = [];
  for (let i = 0; i < 12; i++) seen.push(await echo(i));
  return seen;
});

export const chainOfValues = workflow({ name: "chain_of_values" }, async () => {
  const seen: unknown[] = [];
  for (let i = 0; i < 40; i++) seen.push(await now(), await random(1, 1_000), await uuid());
  const told = await echo(JSON.stringify(seen));
  await sleep(10);
  return told === JSON.stringify(seen);
});

export const listensAndWorks = workflow({ name: "listens_and_works" }, async () => {
  const letters: unknown[] = [];
  const [sum] = await parallel([
    async () => {
      let sum = 0;
      for (let i = 0; i < 10; i++) sum = await add([sum, 1]);
      return sum;
    },
    async () => {
      for (let i = 0; i < 5; i++) letters.push(await signal("letter"));
    },
  ]);
  return [sum, letters];
});

export const asksInBetween = workflow({ name: "asks_in_between" }, async () => {
  const answers: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    await echo(i);
    answers.push(await pause(`ask_${i}`));
  }
  return answers;
});

export const asksAtOnce = workflow({ name: "asks_at_once" }, () => pause<string>("ask"));

export const endsSoon = workflow({ name: "ends_soon" }, async () => {
  await echo("first");
  return echo("last");
});

export const endsAtOnce = workflow({ name: "ends_at_once" }, () => "nothing");

export const callsInBetween = workflow({ name: "calls_in_between" }, async () => {
  const sums: number[] = [];
  for (let i = 0; i < 3; i++) sums.push(await call(sumOf, [i, await echo(i)] as const));
  return sums;
});

export const sumOf = workflow({ name: "sum_of" }, async (pair: readonly [number, number]) =>
  add(pair),
);

export const renamed = workflow({ name: "renamed" }, async (_, ctx) => {
  const labels = [ctx.label];
  for (let i = 0; i < 3; i++) {
    await echo(`${ctx.label} ${i}`);
    await pause(`ask_${i}`);
    labels.push(ctx.label);
  }
  return labels;
});

/** Sends letters that nobody waits for, as fast as they are taken. */
const pester = (count: number) => async (it: Outside) => {
  for (let i = 0; i < count; i++) await it.signal("unasked", i);
};

const atEachMoment = (name: string, workflow: string, of: (delay: number) => Program): Programs => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20];
  return Object.fromEntries(
    delays.map((delay) => [`${name} ${delay}`, { ...of(delay), workflow, isCalm: true }]),
  );
};

/** A signal that nobody takes is refused, or the log tells that it was dropped. */
const saysWhatItDrops = (delay: number) => ({
  sees: `a signal that is accepted ${delay} ms after the start is said to be dropped when nobody took it`,
  drive: async (it: Outside) => {
    await it.untilInstant(Date.now() + delay);
    const status = await it.signal("unasked", delay);
    await it.untilEnded();
    const { body } = await it.ask("GET", `/executions/${it.id}/events?type=WORKFLOW_WARNING`);
    const { length } = (body as { readonly items: readonly unknown[] }).items;
    if (length !== (status === 202 ? 1 : 0)) {
      throw new Error(`a signal was answered ${status}, and ${length} warnings tell of it`);
    }
  },
});

const twelve = Array.from({ length: 12 }, (_, i) => i);

export const overtaking: Programs = {
  ...atEachMoment("chain_of_steps", "chain_of_steps", (delay) => ({
    sees: `steps in a row are done once each when a signal arrives after ${delay} ms`,
    drive: async (it) => {
      await it.untilInstant(Date.now() + delay);
      await it.signal("unasked", delay);
    },
    output: twelve,
    did: twelve.map((i) => `echo ${i}`),
  })),
  ...atEachMoment("asks_at_once", "asks_at_once", (delay) => ({
    sees: `a question is open and answered when a signal arrives after ${delay} ms`,
    drive: async (it) => {
      await it.untilInstant(Date.now() + delay);
      await it.signal("unasked", delay);
      await it.untilState("PAUSED");
      await it.resume("answer");
    },
    output: "answer",
  })),
  ...atEachMoment("ends_soon", "ends_soon", (delay) => ({
    ...saysWhatItDrops(delay),
    output: "last",
    did: ["echo first", "echo last"],
  })),
  ...atEachMoment("ends_at_once", "ends_at_once", (delay) => ({
    ...saysWhatItDrops(delay),
    output: "nothing",
  })),
  "chain_of_steps pestered": {
    workflow: "chain_of_steps",
    sees: "steps in a row are done once each while signals pour in",
    drive: pester(20),
    output: twelve,
    did: twelve.map((i) => `echo ${i}`),
  },
  chain_of_values: {
    sees: "values that were asked for stay what they were while signals pour in",
    drive: pester(12),
    output: true,
  },
  listens_and_works: {
    sees: "a workflow that works and listens at once does both to the end",
    drive: async (it) => {
      for (let i = 0; i < 5; i++) await it.signal("letter", i);
    },
    output: [10, [0, 1, 2, 3, 4]],
    did: Array.from({ length: 10 }, (_, i) => `add ${i} 1`),
  },
  asks_in_between: {
    sees: "questions between steps are answered, and signals between them change nothing",
    drive: async (it) => {
      for (let i = 0; i < 3; i++) {
        await it.signal("unasked", i);
        await it.untilWaits("pause", `ask_${i}`);
        await it.signal("unasked", i);
        await it.resume(i);
      }
    },
    output: [0, 1, 2],
    did: ["echo 0", "echo 1", "echo 2"],
  },
  calls_in_between: {
    sees: "children between steps are called once each while signals pour in",
    drive: pester(10),
    output: [0, 2, 4],
    did: ["echo 0", "add 0 0", "echo 1", "add 1 1", "echo 2", "add 2 2"],
  },
  renamed: {
    sees: "a workflow that is renamed while it runs is told of one name",
    drive: async (it) => {
      for (let i = 0; i < 3; i++) {
        await it.untilWaits("pause", `ask_${i}`);
        await it.ask("PUT", `/executions/${it.id}/name`, { name: `name ${i}` });
        await it.resume();
      }
    },
    output: [null, null, null, null],
    did: ["echo null 0", "echo null 1", "echo null 2"],
  },
};
