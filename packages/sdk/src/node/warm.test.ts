import { expect, test } from "vitest";
import { parallel, pause, signal, sleep, task, workflow } from "../index.ts";
import { start } from "./testing/run-in-memory.ts";
import { Scene } from "./testing/scene.ts";

const step = task({ name: "step" }, async (n: number) => n + 1);

/** What a workflow of pauses leaves, its copies kept warm or replayed each time. */
async function logOf(isWarm: boolean, body: () => Promise<unknown>) {
  let bodies = 0;
  const counted = async () => {
    bodies++;
    return body();
  };
  const execution = start(workflow({ name: "w" }, counted));
  const copy = execution.claim();
  let ended = await copy.ended;
  for (let round = 1; ended !== "terminal"; round++) {
    const [open] = execution.row.waits;
    if (open?.kind === "signal") execution.engine.signal("e1", open.name, { round });
    else if (open?.kind === "pause") execution.resume({ round }, open.task_call_id);
    else {
      execution.now = Math.max(execution.now, execution.row.wake_at ?? 0);
      execution.engine.wakeDue();
    }
    const woken = isWarm ? execution.engine.wake("e1", copy) : execution.claim();
    if (!woken) throw new Error("this copy cannot go on");
    ended = await woken.ended;
  }
  const { events, row } = execution;
  const timeless = events.map(({ time: _, value, ...event }) => ({
    ...event,
    ...(event.kind === null && { value }),
    meta: event.meta === null ? null : { ...event.meta, duration_ms: undefined },
  }));
  return { timeless, output: row.output, bodies };
}

const bodies: [string, () => Promise<unknown>][] = [
  [
    "pauses after each other",
    async () => [await pause("a"), await step(1), await pause("b"), await step(2)],
  ],
  [
    "pauses beside each other",
    async () =>
      parallel([
        () => pause("a"),
        async () => step(((await pause("b")) as { round: number }).round),
      ]),
  ],
  ["signals", async () => [await signal("a"), await signal("b")]],
  [
    "a race of a pause and a sleep",
    async () => [await Promise.race([pause("a"), sleep("1h")]), await pause("b")],
  ],
  ["a sleep", async () => [await sleep("1h"), await step(3)]],
];

test.each(bodies)(
  "RUN-4 %s: a copy that was kept leaves the same log as one that is replayed",
  async (_, body) => {
    const warm = await logOf(true, body);
    const cold = await logOf(false, body);
    expect(warm.bodies).toBe(1);
    expect(cold.bodies).toBeGreaterThan(1);
    expect(warm.timeless).toEqual(cold.timeless);
    expect(warm.output).toEqual(cold.output);
  },
);

test("RUN-4 a copy is not woken when another one has run meanwhile", async () => {
  const execution = start(
    workflow({ name: "w" }, async () => [await pause("a"), await pause("b")]),
  );
  const kept = execution.claim();
  await kept.ended;
  execution.resume(1);
  await execution.run();
  execution.resume(2);
  expect(execution.engine.wake("e1", kept)).toBeUndefined();
  await execution.run();
  expect(execution.row.output).toEqual([1, 2]);
});

test("RUN-4 a copy whose task body waits is replayed: that body has timers of its own", async () => {
  const outer = task({ name: "outer" }, async () => pause("inside"));
  const execution = start(workflow({ name: "w" }, async () => outer()));
  const kept = execution.claim();
  await kept.ended;
  execution.resume(1);
  expect(execution.engine.wake("e1", kept)).toBeUndefined();
  await execution.run();
  expect(execution.row).toMatchObject({ state: "COMPLETED", output: 1 });
});

test("RUN-4 a cancel wakes a kept copy, which unwinds", async () => {
  let cleaned = 0;
  const wf = workflow({ name: "w" }, async () => {
    try {
      await pause("p");
    } finally {
      cleaned++;
    }
  });
  const execution = start(wf);
  const kept = execution.claim();
  await kept.ended;
  execution.engine.cancel("e1");
  const woken = execution.engine.wake("e1", kept);
  expect(woken).toBeDefined();
  expect(await woken?.ended).toBe("terminal");
  expect(cleaned).toBe(1);
  expect(execution.types.slice(-3)).toEqual([
    "WORKFLOW_RESUMED",
    "TASK_CANCELLED",
    "WORKFLOW_CANCELLED",
  ]);
});

test("RUN-4 a retry delay that ends while the copy is kept goes on with the next attempt", async () => {
  let attempts = 0;
  const flaky = task({ name: "flaky", retry: { maxAttempts: 2, delay: "1h" } }, async () => {
    if (++attempts === 1) throw new Error("no");
    return attempts;
  });
  const wf = workflow({ name: "w" }, async () => parallel([() => flaky(), () => pause("p")]));
  const scene = new Scene([wf]);
  scene.engine.start(wf, null);
  const kept = scene.engine.claim("e1");
  await scene.settle();
  expect(scene.row().state).toBe("PAUSED");
  scene.engine.resume("e1", "in");
  expect(scene.wake(kept)).toBe(true);
  await scene.settle();
  expect(scene.row().waits).toMatchObject([{ kind: "retry" }]);
  scene.clock.now = Number(scene.row().wake_at);
  scene.engine.wakeDue();
  expect(scene.wake(kept)).toBe(true);
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [2, "in"] });
  expect(attempts).toBe(2);
});

test("RUN-4 a kept copy that is dropped tells nobody that it is given up", async () => {
  let aborted = false;
  const outer = task({ name: "outer" }, async (_, { signal: abort }) => {
    abort.addEventListener("abort", () => (aborted = true));
    return pause("p");
  });
  const execution = start(workflow({ name: "w" }, async () => outer()));
  const kept = execution.claim();
  await kept.ended;
  kept.stop("evicted");
  expect(aborted).toBe(false);
  execution.resume(1);
  expect(execution.engine.wake("e1", kept)).toBeUndefined();
});

test.each(["warm", "replayed"])(
  "EXE-38 a retry that the server says is due begins on a worker whose clock is an hour behind (%s)",
  async (how) => {
    const attempts: number[] = [];
    const flaky = task({ name: "flaky", retry: { maxAttempts: 2, delay: "10m" } }, (_, ctx) => {
      attempts.push(ctx.attempt);
      if (ctx.attempt < 2) throw new Error("no");
      return ctx.attempt;
    });
    const wf = workflow({ name: "w" }, async () => flaky());
    const scene = new Scene([wf]);
    scene.engine.start(wf, null);
    const kept = scene.engine.claim("e1");
    await scene.settle();
    // It goes on where the clock is another one.
    scene.clock.behind = 3_600_000;
    scene.clock.now = Number(scene.row().wake_at);
    scene.engine.wakeDue();
    if (how === "warm") expect(scene.wake(kept)).toBe(true);
    await scene.settle();
    expect(attempts.at(-1)).toBe(2);
    expect(scene.row()).toMatchObject({ state: "COMPLETED", output: 2 });
    expect(scene.types().filter((type) => type === "WORKFLOW_RESUMING")).toHaveLength(1);
  },
);

test("EXE-38 a retry whose copy was lost after the server called it due does not wait again", async () => {
  const attempts: number[] = [];
  const flaky = task({ name: "flaky", retry: { maxAttempts: 2, delay: "10m" } }, (_, ctx) => {
    attempts.push(ctx.attempt);
    if (ctx.attempt < 2) throw new Error("no");
  });
  const scene = new Scene([workflow({ name: "w" }, async () => flaky())]);
  await scene.start();
  scene.clock.behind = 3_600_000;
  scene.clock.now = Number(scene.row().wake_at);
  scene.engine.wakeDue();
  scene.engine.claim("e1");
  await scene.crash();
  expect(attempts.at(-1)).toBe(2);
  expect(scene.row().state).toBe("COMPLETED");
});
