import {
  ChildCancelledError,
  ChildFailedError,
  call,
  map,
  NotFoundError,
  pause,
  signal,
  sleep,
  type TaskError,
  workflow,
} from "@engine/sdk";
import type { Programs } from "../program.ts";
import { add, echo, fails, late } from "./tasks.ts";

export const doubles = workflow({ name: "doubles" }, async (n: number) => add([n, n]));

export const oneChild = workflow({ name: "one_child" }, async () => {
  const four = await call(doubles, 2);
  return echo(four + 1);
});

export const byItsName = workflow({ name: "by_its_name" }, async () => [
  await call<number>("doubles", 1),
  await call<number>("default/doubles", 2),
]);

export const sameChildTwice = workflow({ name: "same_child_twice" }, async () => [
  await call(doubles, 3),
  await call(doubles, 3),
]);

export const childrenAtOnce = workflow({ name: "children_at_once" }, () =>
  map([1, 2, 3, 4, 5], (n) => call(doubles, n)),
);

export const childrenInTurn = workflow({ name: "children_in_turn" }, async () => {
  let n = 1;
  for (let i = 0; i < 4; i++) n = await call(doubles, n);
  return n;
});

export const childFirst = workflow({ name: "child_first" }, async () => {
  const child = await call(doubles, 1);
  return [child, await echo("then"), await echo("last")];
});

export const childInTheMiddle = workflow({ name: "child_in_the_middle" }, async () => {
  const before = await echo("before");
  return [before, await call(doubles, 1), await echo("after")];
});

export const childLast = workflow({ name: "child_last" }, async () => {
  await echo("first");
  return call(doubles, await add([1, 1]));
});

export const factorial = workflow({ name: "factorial" }, async (n: number): Promise<number> => {
  await echo(n);
  if (n <= 1) return 1;
  return n * (await call<number>("factorial", n - 1));
});

export const breaks = workflow({ name: "breaks" }, async (message: string) => {
  await fails(message);
});

export const childFails = workflow({ name: "child_fails" }, async () => {
  try {
    return await call(breaks, "broken");
  } catch (error) {
    if (!(error instanceof ChildFailedError)) throw error;
    const cause = error.cause as TaskError;
    const { details } = error.failure;
    return [error.failure.type, cause.message, typeof details?.["execution_id"]];
  }
});

export const childFailsUncaught = workflow({ name: "child_fails_uncaught" }, async () => {
  await call(breaks, "broken deep below");
});

export const grandchildFails = workflow({ name: "grandchild_fails" }, async () => {
  const error = await call(childFailsUncaught).catch((error: unknown) => error);
  const causes: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) causes.push(at.message);
  return causes.at(-1);
});

export const sleeper = workflow({ name: "sleeper" }, async (ms: number) => {
  await sleep(ms);
  return echo(`slept ${ms}`);
});

export const childSleeps = workflow({ name: "child_sleeps" }, async () =>
  Promise.all([call(sleeper, 30), call(sleeper, 1_100)]),
);

export const questioner = workflow({ name: "questioner" }, async (name: string) =>
  pause<string>(name),
);

export const childAsks = workflow({ name: "child_asks" }, async () => {
  const answer = await call(questioner, "ask");
  return echo(answer);
});

export const listener = workflow({ name: "listener" }, async () => {
  const letter = await signal<string>("letter");
  return echo(letter);
});

export const childListens = workflow({ name: "child_listens" }, () => call(listener));

export const notWaitedFor = workflow({ name: "not_waited_for" }, async () => {
  const id = await call(doubles, 5, { wait: false });
  return [typeof id, id.length > 10];
});

export const cancelledChild = workflow({ name: "cancelled_child" }, async () => {
  try {
    return await call(listener);
  } catch (error) {
    return error instanceof ChildCancelledError ? echo("cancelled") : error;
  }
});

export const nobodyThere = workflow({ name: "nobody_there" }, async () => {
  try {
    return await call("nobody/there");
  } catch (error) {
    return error instanceof NotFoundError ? error.failure.attempts : error;
  }
});

export const refusedValue = workflow({ name: "refused_value" }, async () => {
  try {
    await call("doubles", (() => 1) as never);
  } catch {
    await echo("refused");
  }
  await pause("after");
  return echo("went on");
});

export const refusedOutput = workflow({ name: "refused_output" }, async () => {
  const refused = await pause("shows", { output: () => 1 }).catch((error: Error) => error.name);
  const answer = await pause("after");
  return [refused, answer];
});

export const withTheirWork = workflow({ name: "with_their_work" }, async () => {
  const [child, work] = await Promise.all([call(sleeper, 60), late({ ms: 120, value: "own" })]);
  return [child, work];
});

export const whoCalled = workflow({ name: "who_called" }, async (_, ctx) => ({
  parent: ctx.parentId,
  finished: ctx.finished,
}));

export const knowsItsParent = workflow({ name: "knows_its_parent" }, async (_, ctx) => {
  const { parent, finished } = await call(whoCalled);
  return [parent === ctx.executionId, finished, ctx.parentId];
});

export const tooDeep = workflow({ name: "too_deep" }, async (depth: number): Promise<unknown> => {
  try {
    return await call("too_deep", depth + 1);
  } catch (error) {
    return (error as TaskError).failure.type === "DepthLimitError" ? depth : error;
  }
});

export const children: Programs = {
  one_child: {
    sees: "a workflow goes on with what its child gives",
    isTouchy: true,
    output: 5,
    did: ["add 2 2", "echo 5"],
  },
  by_its_name: {
    sees: "a child is found by its name, with or without its namespace",
    output: [2, 4],
    did: ["add 1 1", "add 2 2"],
  },
  same_child_twice: {
    sees: "two calls of one workflow with the same input are two children",
    output: [6, 6],
    did: ["add 3 3", "add 3 3"],
  },
  children_at_once: {
    sees: "children that are called at once each give their own output",
    output: [2, 4, 6, 8, 10],
    didInAnyOrder: [1, 2, 3, 4, 5].map((n) => `add ${n} ${n}`),
  },
  children_in_turn: {
    sees: "children that are called in turn each get what the one before gave",
    output: 16,
    did: ["add 1 1", "add 2 2", "add 4 4", "add 8 8"],
  },
  child_first: {
    sees: "a child before all tasks is called once",
    output: [2, "then", "last"],
    did: ["add 1 1", "echo then", "echo last"],
  },
  child_in_the_middle: {
    sees: "a child between tasks is called once",
    output: ["before", 2, "after"],
    did: ["echo before", "add 1 1", "echo after"],
  },
  child_last: {
    sees: "a child behind all tasks is called once",
    output: 4,
    did: ["echo first", "add 1 1", "add 2 2"],
  },
  factorial: {
    sees: "a workflow that calls itself comes back from every level",
    input: 6,
    output: 720,
    did: [6, 5, 4, 3, 2, 1].map((n) => `echo ${n}`),
  },
  child_fails: {
    sees: "a child that failed is caught with its own error as the cause, and with its id",
    output: ["ChildFailedError", "broken", "string"],
    did: ["fails broken"],
  },
  child_fails_uncaught: {
    sees: "a child that failed and is not caught fails its parent, which tells the cause",
    failure: { type: "ChildFailedError", cause: { message: "broken deep below" } },
  },
  grandchild_fails: {
    sees: "the error of a grandchild is found at the end of the causes",
    output: "broken deep below",
  },
  child_sleeps: {
    sees: "children that sleep, a little or long, wake their parent when they end",
    output: ["slept 30", "slept 1100"],
    didInAnyOrder: ["echo slept 30", "echo slept 1100"],
  },
  child_asks: {
    sees: "a child that asks keeps its parent waiting until it is answered",
    drive: async (outside) => {
      await outside.untilWaits("child");
      const [child = ""] = await outside.children();
      await outside.until("it asks", async () => {
        const path = `/workflows/default/questioner/resume/${child}/async`;
        return (await outside.ask("POST", path, "an answer")).status === 202;
      });
    },
    output: "an answer",
    did: ["echo an answer"],
  },
  child_listens: {
    sees: "a child is sent a signal by its own id",
    drive: async (outside) => {
      await outside.untilWaits("child");
      const [child = ""] = await outside.children();
      await outside.ask("POST", `/executions/${child}/signals/letter`, "for the child");
    },
    output: "for the child",
    did: ["echo for the child"],
  },
  not_waited_for: {
    sees: "a child that is not waited for gives its id at once, and does its work all the same",
    drive: (outside) => outside.untilDid("add 5 5"),
    output: ["string", true],
    did: ["add 5 5"],
  },
  cancelled_child: {
    sees: "a child that somebody cancels is caught as cancelled",
    drive: async (outside) => {
      await outside.untilWaits("child");
      const [child = ""] = await outside.children();
      await outside.ask("POST", `/workflows/default/listener/cancel/${child}`, {});
    },
    output: "cancelled",
    did: ["echo cancelled"],
  },
  nobody_there: {
    sees: "a workflow that is not there cannot be called, which can be caught",
    right: ({ state, output }) => state === "COMPLETED" && typeof output === "number",
  },
  refused_value: {
    sees: "an input that cannot be kept is refused, and the workflow that catches it goes on",
    drive: async (outside) => {
      await outside.untilWaits("pause", "after");
      await outside.resume();
    },
    output: "went on",
    did: ["echo refused", "echo went on"],
  },
  refused_output: {
    sees: "a question that shows what cannot be kept is refused, and a later one is answered",
    drive: async (outside) => {
      await outside.untilWaits("pause", "after");
      await outside.resume("answer");
    },
    output: ["UnencodableValueError", "answer"],
  },
  with_their_work: {
    sees: "a workflow works while its child does",
    output: ["slept 60", "own"],
    didInAnyOrder: ["echo slept 60", "late own"],
  },
  knows_its_parent: {
    sees: "a child knows who called it, and who was called by nobody knows that",
    output: [true, false, null],
  },
  too_deep: {
    sees: "a workflow that calls itself for ever is stopped at a depth",
    input: 1,
    output: 21,
  },
};
