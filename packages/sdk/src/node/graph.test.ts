import { expect, test } from "vitest";
import { type GraphNode, graph, now, sleep, type TaskContext, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

async function outputOf(body: (input: number) => Promise<unknown>, input = 1): Promise<unknown> {
  const scene = new Scene([workflow({ name: "w" }, body)]);
  const row = await scene.run(input);
  if (row.failure) throw new Error(row.failure.message);
  return row.output;
}

const ran: string[] = [];
const step = task(
  { name: "step" },
  async (of: unknown, { executionId, taskCallId }: TaskContext) => {
    ran.push(`${executionId}:${taskCallId}`);
    return of;
  },
);

test("EXE-9 a diamond runs each node once; one upstream gives its output, several an object by name", async () => {
  const seen: Record<string, unknown[]> = {};
  const node = (name: string, give: unknown, after?: string[]): GraphNode => ({
    ...(after && { after }),
    run: (input: unknown) => {
      seen[name] = [...(seen[name] ?? []), input];
      return give;
    },
  });
  const diamond = graph("diamond", {
    top: node("top", "T"),
    left: node("left", "L", ["top"]),
    right: node("right", "R", ["top"]),
    bottom: node("bottom", "B", ["left", "right"]),
  });
  expect(await outputOf((n) => diamond(n), 7)).toEqual({
    top: "T",
    left: "L",
    right: "R",
    bottom: "B",
  });
  expect(seen).toEqual({
    top: [7],
    left: ["T"],
    right: ["T"],
    bottom: [{ left: "L", right: "R" }],
  });
});

test("EXE-9 ready nodes run concurrently, one that waits holds up only those behind it", async () => {
  const order: string[] = [];
  const etl = graph("g", {
    slow: { run: async () => void (await sleep("2h")) },
    fast: { run: async () => void (await sleep("1h")) },
    afterFast: { after: ["fast"], run: () => order.push("afterFast") },
    afterSlow: { after: ["slow"], run: () => order.push("afterSlow") },
    both: { after: ["slow", "fast"], run: () => order.push("both") },
  });
  const scene = new Scene([workflow({ name: "w" }, async () => void (await etl()))]);
  await scene.start();
  await scene.advance(3_600_000);
  expect(order).toEqual(["afterFast"]);
  await scene.toEnd();
  expect([...new Set(order)].sort()).toEqual(["afterFast", "afterSlow", "both"]);
  expect(scene.row().state).toBe("COMPLETED");
});

test("EXE-9 when: false skips a node and what hangs on it alone; the rest gets what there is", async () => {
  const seen: unknown[] = [];
  const g = graph("g", {
    a: { run: () => 1 },
    skipped: { after: ["a"], when: ({ a }) => a > 5, run: () => "never" },
    below: { after: ["skipped"], run: () => "never" },
    deeper: { after: ["below", "skipped"], run: () => "never" },
    taken: { after: ["a"], when: async ({ a }) => a === 1, run: () => "taken" },
    joined: {
      after: ["skipped", "taken"],
      when: (up) => {
        seen.push(up);
        return true;
      },
      run: (up) => {
        seen.push(up);
        return "joined";
      },
    },
  });
  expect(await outputOf(() => g())).toEqual({ a: 1, taken: "taken", joined: "joined" });
  expect(seen).toEqual([{ taken: "taken" }, { taken: "taken" }]);
});

test("EXE-9 a root may be skipped too, and its condition gets an empty object", async () => {
  const seen: unknown[] = [];
  const g = graph("g", {
    root: {
      when: (up) => {
        seen.push(up);
        return false;
      },
      run: () => 1,
    },
    other: { run: (n: number) => n },
  });
  expect(await outputOf((n) => g(n), 3)).toEqual({ other: 3 });
  expect(seen).toEqual([{}]);
});

test("EXE-9 tasks and built-ins in nodes are calls below the graph", async () => {
  const g = graph("etl", {
    extract: { run: step },
    at: { after: ["extract"], run: async () => Number(await now()) > 0 },
    load: { after: ["extract", "at"], run: step },
  });
  const scene = new Scene([workflow({ name: "w" }, async (n: number) => g(n))]);
  await scene.run(5);
  expect(scene.row().output).toEqual({ extract: 5, at: true, load: { extract: 5, at: true } });
  const starts = scene.log().filter(({ type }) => type === "TASK_STARTED");
  expect(starts.map(({ source_id }) => source_id)).toEqual([
    "graph~1",
    "graph~1/step~1",
    "graph~1/now~1",
    "graph~1/step~2",
  ]);
  expect(starts[0]).toMatchObject({
    kind: "graph",
    value: { name: "etl", nodes: ["extract", "at", "load"], input: 5 },
  });
});

test("EXE-46 the first node that fails is what the caller catches; what hangs on it never runs", async () => {
  let later = false;
  const g = graph("g", {
    bad: {
      run: async () => {
        await sleep(10);
        throw new RangeError("bad");
      },
    },
    hangs: { run: () => sleep("1h") },
    behind: {
      after: ["bad"],
      run: () => {
        later = true;
      },
    },
  });
  const scene = new Scene([workflow({ name: "w" }, async () => g())]);
  const row = await scene.run();
  expect(row).toMatchObject({ state: "FAILED", failure: { type: "RangeError", message: "bad" } });
  expect(later).toBe(false);
  expect(scene.story()).toContain("TASK_CANCELLED graph~1/sleep~2");
});

test("EXE-46 a condition that throws fails the graph", async () => {
  const g = graph("g", {
    a: {
      when: () => {
        throw new Error("cannot tell");
      },
      run: () => 1,
    },
  });
  await expect(outputOf(() => g())).rejects.toThrow("cannot tell");
});

test.each<[string, unknown, RegExp]>([
  ["no nodes", {}, /has no nodes/],
  [
    "an unknown upstream",
    { load: { run: () => 1 }, clean: { after: ["laod"], run: () => 1 } },
    /node clean after an unknown node laod; did you mean load\?/,
  ],
  ["a node after itself", { a: { after: ["a"], run: () => 1 } }, /circle: a -> a/],
  [
    "a circle",
    {
      start: { run: () => 1 },
      a: { after: ["start", "c"], run: () => 1 },
      b: { after: ["a"], run: () => 1 },
      c: { after: ["b"], run: () => 1 },
    },
    /circle: a -> c -> b -> a/,
  ],
  ["a node without run", { a: { after: [] } }, /no function "run" in node a/],
  [
    "a when that is no function",
    { a: { when: true, run: () => 1 } },
    /"when" in node a that is no function/,
  ],
  ["a node name that is none", { "a b": { run: () => 1 } }, /node "a b"/],
])("EXE-9 %s throws at definition, naming the nodes", (_, nodes, message) => {
  const define = () => graph("etl", nodes as Record<string, GraphNode>);
  expect(define).toThrow(message);
  expect(define).toThrow(expect.objectContaining({ code: "invalid_definition" }));
});

test("EXE-8 a graph's name follows the grammar; outside a workflow it says so", async () => {
  expect(() => graph("not a name", { a: { run: () => 1 } })).toThrow(/needs a name/);
  await expect(graph("g", { a: { run: () => 1 } })()).rejects.toMatchObject({
    code: "no_execution",
  });
});

test("I7 wherever all workers are lost a graph comes to the same result", async () => {
  const g = graph("g", {
    a: { run: step },
    b: {
      after: ["a"],
      run: async (n: number) => {
        await sleep("1h");
        return step(n);
      },
    },
    c: { after: ["a"], when: async () => Number(await now()) > 0, run: step },
    d: { after: ["b", "c"], run: step },
  });
  const scene = new Scene([workflow({ name: "w" }, async (n: number) => g(n))]);
  await scene.run(2);
  expect(scene.row().output).toEqual({ a: 2, b: 2, c: 2, d: { b: 2, c: 2 } });
  for (const crash of scene.crashPoints) {
    ran.length = 0;
    const again = scene.after(crash);
    await again.toEnd();
    expect(again.row().output, crash.at).toEqual(scene.row().output);
    const recorded = crash.logs.get("e1")?.filter(({ type }) => type === "TASK_COMPLETED") ?? [];
    const known = recorded.map(({ source_id }) => `e1:${source_id}`);
    expect(
      ran.filter((call) => known.includes(call)),
      crash.at,
    ).toEqual([]);
  }
});
