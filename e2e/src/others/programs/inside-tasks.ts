/** Tasks that call, wait and start workflows themselves. */
import { call, parallel, pause, signal, sleep, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Outside } from "../outside.ts";
import type { Programs } from "../program.ts";
import { add, echo, fails, upper } from "./tasks.ts";

const works = () => new Promise((resolve) => setTimeout(resolve, 400));

const outer = task({ name: "outer" }, async (text: string, ctx) => {
  await did(ctx, `outer ${text}`);
  const loud = await upper(text);
  return echo(`${loud}!`);
});

export const taskInATask = workflow({ name: "task_in_a_task" }, async () => [
  await outer("a"),
  await outer("b"),
]);

const worksThenListens = task({ name: "works_then_listens" }, async (_: unknown) => {
  await works();
  return await signal<string>("news");
});

export const listensLate = workflow({ name: "listens_late" }, () =>
  Promise.all([worksThenListens(null), pause("gate")]),
);

const worksThenSleeps = task({ name: "works_then_sleeps" }, async (ms: number) => {
  await works();
  await sleep(ms);
  await works();
  await sleep(ms);
  return echo("rested");
});

export const sleepsLate = workflow({ name: "sleeps_late" }, () =>
  Promise.all([worksThenSleeps(1_100), pause("gate"), sleep(1_300).then(() => "slept")]),
);

const asks = task({ name: "asks" }, async (name: string) => {
  const before = await echo(`before ${name}`);
  const answer = await pause<string>(name);
  return [before, answer, await echo(`after ${name}`)];
});

export const taskThatAsks = workflow({ name: "task_that_asks" }, async () => {
  const answer = await asks("ask");
  return echo(answer);
});

const half = task(
  { name: "half", retry: { maxAttempts: 3, delay: 20 } },
  async (_: unknown, ctx) => {
    const first = await echo(`attempt ${ctx.attempt}`);
    if (ctx.attempt < 3) await fails(`attempt ${ctx.attempt}`);
    return first;
  },
);

export const halfDone = workflow({ name: "half_done" }, () => half(null));

const fans = task({ name: "fans" }, async (n: number) => {
  const parts = await parallel([() => add([n, 1]), () => add([n, 2]), () => add([n, 3])]);
  return parts.reduce((sum, part) => sum + part, 0);
});

export const branchesInATask = workflow({ name: "branches_in_a_task" }, () =>
  Promise.all([fans(1), fans(10)]),
);

export const triples = workflow({ name: "triples" }, async (n: number) => add([n, 2 * n]));

const delegates = task({ name: "delegates" }, async (n: number) => {
  const child = await call(triples, n);
  return add([child, 1]);
});

export const childOfATask = workflow({ name: "child_of_a_task" }, async () => [
  await delegates(2),
  await delegates(3),
]);

const chance = task({ name: "chance" }, async (_: unknown, ctx) => {
  // Between its calls a task may do what it likes; what is recorded stays.
  const first = await echo("first");
  const mood = Math.random();
  await did(ctx, "mood");
  const second = await echo("second");
  return [first, second, mood < 1];
});

export const freeInATask = workflow({ name: "free_in_a_task" }, async () => {
  const result = await chance(null);
  await sleep(20);
  return result;
});

const catches = task({ name: "catches" }, async (_: unknown) => {
  try {
    return await fails("inside");
  } catch (error) {
    return (error as Error).message;
  }
});

export const caughtInATask = workflow({ name: "caught_in_a_task" }, () => catches(null));

const level = task({ name: "level" }, async (depth: number): Promise<number> => {
  if (depth === 0) return add([0, 1]);
  return (await level(depth - 1)) + 1;
}) as (depth: number) => Promise<number>;

export const fiveLevels = workflow({ name: "five_levels" }, () => level(4));

const races = task({ name: "races" }, async (_: unknown) =>
  Promise.race([sleep("1h").then(() => "sleep"), echo("task")]),
);

export const raceInATask = workflow({ name: "race_in_a_task" }, () => races(null));

/** Opens the gate, so that the task begins again, and sends the news while it works and does not listen yet. */
const gateThenNews = async (it: Outside) => {
  await it.untilWaits("signal", "news");
  await it.untilState("PAUSED");
  await it.resume("open", "gate");
  await it.signal("news", "here");
};

export const insideTasks: Programs = {
  task_in_a_task: {
    sees: "tasks that a task calls are done once, like any others",
    output: ["A!", "B!"],
    did: ["outer a", "upper a", "echo A!", "outer b", "upper b", "echo B!"],
  },
  listens_late: {
    sees: "a signal that arrives while a task still works is there when the task asks for it",
    drive: gateThenNews,
    output: ["here", "open"],
  },
  sleeps_late: {
    sees: "a task that sleeps after work goes on, whatever is answered meanwhile",
    drive: async (it) => {
      await it.untilState("PAUSED");
      await it.resume("open", "gate");
    },
    output: ["rested", "open", "slept"],
    did: ["echo rested"],
  },
  task_that_asks: {
    sees: "a task may ask somebody and go on with the answer, repeating nothing before it",
    drive: async (it) => {
      await it.untilWaits("pause", "ask");
      await it.resume("yes");
    },
    output: ["before ask", "yes", "after ask"],
    did: ["echo before ask", "echo after ask", 'echo ["before ask","yes","after ask"]'],
  },
  half_done: {
    sees: "a task that is tried again calls anew what it calls, and uses nothing of what failed",
    output: "attempt 3",
    did: ["attempt 1", "attempt 2", "attempt 3"].flatMap((attempt) =>
      attempt === "attempt 3" ? [`echo ${attempt}`] : [`echo ${attempt}`, `fails ${attempt}`],
    ),
  },
  branches_in_a_task: {
    sees: "branches inside of tasks that run at once give each their own results",
    output: [9, 36],
    didInAnyOrder: ["add 1 1", "add 1 2", "add 1 3", "add 10 1", "add 10 2", "add 10 3"],
  },
  child_of_a_task: {
    sees: "a task may call a workflow and go on with what it gives",
    output: [7, 10],
    did: ["add 2 4", "add 6 1", "add 3 6", "add 9 1"],
  },
  free_in_a_task: {
    sees: "a task that draws between its calls does each of them once",
    right: ({ output }) => `${output}` === "first,second,true",
  },
  caught_in_a_task: {
    sees: "an error of a task inside of a task can be caught there",
    output: "inside",
    did: ["fails inside"],
  },
  five_levels: {
    sees: "tasks in tasks in tasks come back from every level",
    output: 5,
    did: ["add 0 1"],
  },
  race_in_a_task: {
    sees: "a race inside of a task is decided like one outside",
    output: "task",
    did: ["echo task"],
  },
};
