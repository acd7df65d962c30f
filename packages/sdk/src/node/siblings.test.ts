import { expect, test } from "vitest";
import { map, parallel, pause, sleep, type TaskError, task, workflow } from "../index.ts";
import { double } from "./testing/run-in-memory.ts";
import { Scene } from "./testing/scene.ts";

const fails = task({ name: "fails" }, async (_: unknown) => {
  throw new RangeError("first");
});

test("EXE-46 outcomes within sibling_grace are recorded, what is later is cancelled", async () => {
  const settles = task({ name: "settles" }, (_: undefined, { signal }) => {
    return new Promise<string>((resolve) =>
      signal.addEventListener("abort", () => resolve("tidy")),
    );
  });
  const hangs = task({ name: "hangs" }, () => new Promise(() => {}));
  const wf = workflow({ name: "w" }, async () => {
    try {
      await parallel([() => settles(), () => hangs(), () => pause("p"), () => fails(0)]);
    } catch (error) {
      return (error as TaskError).failure.type;
    }
    return "none";
  });
  const scene = new Scene([wf], { limits: { sibling_grace: 2 } });
  await scene.start();
  expect(scene.story().slice(-3)).toEqual([
    "TASK_FAILED parallel~1/fails~1",
    "TASK_CANCELLED parallel~1/pause~1",
    "TASK_COMPLETED parallel~1/settles~1",
  ]);
  await scene.advance(1_990);
  expect(scene.row().state).toBe("RUNNING");
  await scene.toEnd();
  expect(scene.story().slice(-3)).toEqual([
    "TASK_CANCELLED parallel~1/hangs~1",
    "TASK_FAILED parallel~1",
    "WORKFLOW_COMPLETED",
  ]);
  expect(scene.row().output).toBe("RangeError");
});

test("EXE-46 plain Promise.all leaves siblings running", async () => {
  const wf = workflow({ name: "w" }, async () => {
    const slow = sleep(500);
    await Promise.all([slow, fails(0)]).catch(() => {});
    await slow;
    return "both";
  });
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "both" });
  expect(scene.types()).not.toContain("TASK_CANCELLED");
});

test("EXE-46 a failed sibling ends a retry delay: the task is given up, not tried again", async () => {
  let attempts = 0;
  const flaky = task(
    { name: "flaky", retry: { maxAttempts: 5, delay: "10s" }, fallback: () => "never" },
    async () => {
      attempts++;
      throw new Error("no");
    },
  );
  const later = async () => {
    await sleep(100);
    await fails(0);
  };
  const scene = new Scene([workflow({ name: "w" }, async () => parallel([() => flaky(), later]))]);
  await scene.run();
  expect(scene.row().failure).toMatchObject({ message: "first" });
  expect(attempts).toBe(1);
  expect(scene.story()).toContain("TASK_CANCELLED parallel~1/flaky~1");
  expect(scene.types()).not.toContain("TASK_FALLBACK_STARTED");
});

test("EXE-46 a branch that goes on after a failed sibling starts nothing new", async () => {
  const wf = workflow({ name: "w" }, async () =>
    map([0, 1], async (n) => {
      if (n === 0) return fails(n);
      await sleep(50).catch(() => {});
      return double(n);
    }),
  );
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.row().state).toBe("FAILED");
  expect(scene.story().filter((line) => line.includes("double"))).toEqual([]);
});

test("EXE-46 concurrency starts nothing beyond the first failure", async () => {
  const started: number[] = [];
  const wf = workflow({ name: "w" }, async () =>
    map(
      [0, 1, 2, 3],
      async (n) => {
        started.push(n);
        return n === 1 ? fails(n) : double(n);
      },
      { concurrency: 1 },
    ),
  );
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.row().failure).toMatchObject({ message: "first" });
  expect([...new Set(started)]).toEqual([0, 1]);
});

test("EXE-27 a thousand branches complete and replay identically", async () => {
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    const order: number[] = [];
    const all = await map(
      Array.from({ length: 1_000 }, (_, n) => n),
      async (n) => {
        const got = await double(n);
        order.push(got);
        return got;
      },
    );
    seen.push(order);
    await pause("p");
    return all.length;
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.resume("e1", null);
  await scene.toEnd();
  expect(scene.row().output).toBe(1_000);
  expect(seen[1]).toEqual(seen[0]);
});

test("EXE-34 a log of 10,000 events is told of once; the execution goes on", async () => {
  const wf = workflow({ name: "w" }, async () => {
    for (let round = 0; round < 6; round++) {
      await map(
        Array.from({ length: 1_000 }, (_, n) => n),
        double,
      );
    }
    await pause("p");
    return "on";
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.resume("e1", null);
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "on" });
  const warnings = scene.log().filter(({ type }) => type === "WORKFLOW_WARNING");
  expect(warnings.map(({ value }) => value)).toEqual([
    {
      code: "history_large",
      message: expect.stringMatching(/split the work into child executions/),
    },
  ]);
  expect(warnings[0]?.seq).toBeGreaterThan(9_000);
}, 30_000);

test("EXE-34 calls beside each other stop at the limit too: only what had begun comes to an end", async () => {
  const wf = workflow({ name: "w" }, async () =>
    map(
      Array.from({ length: 100 }, (_, n) => n),
      double,
    ),
  );
  const scene = new Scene([wf], { limits: { max_events: 50 } });
  await scene.run();
  expect(scene.row().failure).toMatchObject({
    type: "HistoryLimitError",
    code: "history_limit",
    message: expect.stringContaining("split the work into child executions"),
  });
  expect(scene.types().length).toBeLessThanOrEqual(50);
  const started = scene.types().filter((t) => t === "TASK_STARTED");
  expect(started.length).toBeGreaterThan(20);
});

test("EXE-34 branches that end after each other use the whole log, and not more", async () => {
  const wf = workflow({ name: "w" }, async () =>
    map(
      Array.from({ length: 100 }, (_, n) => n),
      double,
      { concurrency: 4 },
    ),
  );
  const scene = new Scene([wf], { limits: { max_events: 50 } });
  await scene.run();
  expect(scene.row().failure).toMatchObject({ type: "HistoryLimitError" });
  expect(scene.types().length).toBeLessThanOrEqual(50);
  expect(scene.types().length).toBeGreaterThan(44);
});

test("EXE-34 attempts beside each other stop at the limit too", async () => {
  const never = task({ name: "never", retry: { maxAttempts: 100, delay: 0 } }, () => {
    throw new Error("no");
  });
  const wf = workflow({ name: "w" }, async () => parallel([() => never(), () => never()]));
  const scene = new Scene([wf], { limits: { max_events: 50 } });
  await scene.run();
  expect(scene.row().failure).toMatchObject({ type: "HistoryLimitError" });
  expect(scene.types().length).toBeLessThanOrEqual(50);
});

test("EXE-42 EXE-46 a call that a given-up sibling's function makes rejects, so that it can end", async () => {
  const inner = task({ name: "inner" }, () => "never");
  let goOn = () => {};
  const deaf = task({ name: "deaf" }, async () => {
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await inner();
  });
  const wf = workflow({ name: "w" }, async () => parallel([() => deaf(), () => fails(0)]));
  const scene = new Scene([wf], { limits: { sibling_grace: 2 } });
  await scene.start();
  goOn();
  await scene.settle();
  expect(scene.row()).toMatchObject({ state: "FAILED", failure: { message: "first" } });
  expect(scene.story()).not.toContain("TASK_STARTED parallel~1/deaf~1/inner~1");
});
