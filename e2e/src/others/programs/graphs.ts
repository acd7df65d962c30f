import { graph, map, parallel, pipeline, sleep, workflow } from "@engine/sdk";
import type { Programs } from "../program.ts";
import { add, echo, fails, upper } from "./tasks.ts";

export const stepByStep = workflow({ name: "step_by_step" }, (text: string) =>
  pipeline(
    text,
    upper,
    async (loud) => {
      await sleep(15);
      return `${loud}!`;
    },
    echo,
  ),
);

export const pipelineBreaks = workflow({ name: "pipeline_breaks" }, async () => {
  try {
    return await pipeline("a", upper, (text) => fails(`at ${text}`), echo);
  } catch (error) {
    return (error as Error).message;
  }
});

const diamond = graph("diamond", {
  source: { run: (n: number) => add([n, 0]) },
  left: { after: ["source"], run: (n: number) => add([n, 1]) },
  right: { after: ["source"], run: (n: number) => add([n, 2]) },
  sum: {
    after: ["left", "right"],
    run: ({ left, right }: { left: number; right: number }) => add([left, right]),
  },
});

export const throughADiamond = workflow({ name: "through_a_diamond" }, (n: number) => diamond(n));

const choosing = graph("choosing", {
  look: { run: (n: number) => echo(n) },
  small: {
    after: ["look"],
    when: ({ look }: { look: number }) => look < 10,
    run: (n: number) => echo(`small ${n}`),
  },
  large: {
    after: ["look"],
    when: async ({ look }: { look: number }) => look >= 10,
    run: (n: number) => echo(`large ${n}`),
  },
  afterLarge: { after: ["large"], run: (text: string) => echo(`after ${text}`) },
  end: {
    after: ["small", "large"],
    run: ({ small, large }: { small?: string; large?: string }) => echo(small ?? large),
  },
});

export const oneWayOnly = workflow({ name: "one_way_only" }, (n: number) => choosing(n));

const breaking = graph("breaking", {
  a: { run: () => echo("a") },
  b: { after: ["a"], run: () => fails("b") },
  c: { after: ["b"], run: () => echo("must not be") },
});

export const graphBreaks = workflow({ name: "graph_breaks" }, async () => {
  try {
    return await breaking();
  } catch (error) {
    return (error as Error).message;
  }
});

export const graphsAtOnce = workflow({ name: "graphs_at_once" }, async () => {
  const all = await map([1, 2, 3], (n) => diamond(n));
  return all.map(({ sum }) => sum);
});

export const allTogether = workflow({ name: "all_together" }, async () => {
  const [a, b, c] = await parallel([
    () =>
      pipeline(
        1,
        (n: number) => add([n, 1]),
        (n: number) => add([n, 1]),
      ),
    () => map([1, 2], (n) => add([n, 10]), { concurrency: 1 }),
    () => diamond(5),
  ]);
  return [a, b, c.sum];
});

export const settledMap = workflow({ name: "settled_map" }, async () => {
  const all = await map([1, 2, 3], (n) => (n === 2 ? fails("two") : echo(n)), { settle: true });
  return all.map((one) => (one.status === "fulfilled" ? one.value : one.failure.message));
});

export const graphs: Programs = {
  step_by_step: {
    sees: "each step of a row gets what the one before gave",
    input: "hey",
    output: "HEY!",
    did: ["upper hey", "echo HEY!"],
  },
  pipeline_breaks: {
    sees: "a step that fails ends the row, and the steps behind it are not taken",
    output: "at A",
    did: ["upper a", "fails at A"],
  },
  through_a_diamond: {
    sees: "steps that depend on each other are each taken once, when all before them are done",
    input: 3,
    output: { source: 3, left: 4, right: 5, sum: 9 },
    didInAnyOrder: ["add 3 0", "add 3 1", "add 3 2", "add 4 5"],
  },
  one_way_only: {
    sees: "a step whose condition says no is left out, and so is what comes only after it",
    input: 4,
    output: { look: 4, small: "small 4", end: "small 4" },
    did: ["echo 4", "echo small 4", "echo small 4"],
  },
  "one_way_only large": {
    workflow: "one_way_only",
    sees: "a condition that answers later decides as well",
    input: 40,
    output: { look: 40, large: "large 40", afterLarge: "after large 40", end: "large 40" },
    didInAnyOrder: ["echo 40", "echo large 40", "echo after large 40", "echo large 40"],
  },
  graph_breaks: {
    sees: "a step that fails ends the whole, and nothing behind it is done",
    output: "b",
    did: ["echo a", "fails b"],
  },
  graphs_at_once: {
    sees: "the same steps for several inputs at once do not mix",
    output: [5, 7, 9],
  },
  all_together: {
    sees: "rows, lists and graphs beside each other give their own results",
    output: [3, [11, 12], 13],
  },
  settled_map: {
    sees: "a list of which one fails tells of each how it ended",
    output: [1, "two", 3],
    didInAnyOrder: ["echo 1", "fails two", "echo 3"],
  },
};
