import { expect, test } from "vitest";
import {
  parallel,
  pause,
  sleep,
  type TaskError,
  TerminalError,
  task,
  type WorkflowContext,
  workflow,
} from "../index.ts";
import { double } from "./testing/run-in-memory.ts";
import { Scene } from "./testing/scene.ts";

test("EXE-10 EXE-11 a body's context tells of its execution, is read-only and prints in snake_case", async () => {
  let seen: WorkflowContext | undefined;
  const wf = workflow(
    { name: "w", namespace: "shop", metadata: { team: "a" } },
    async (_: unknown, ctx) => {
      seen = ctx;
      await double(1);
      return JSON.parse(JSON.stringify(ctx)) as unknown;
    },
  );
  const scene = new Scene([wf]);
  await scene.run({ id: 1 });
  expect(seen).toMatchObject({
    executionId: "e1",
    name: "w",
    namespace: "shop",
    version: 1,
    input: { id: 1 },
    output: null,
    state: "RUNNING",
    finished: false,
    succeeded: false,
    failed: false,
    paused: false,
    cancelled: false,
    failure: null,
    waiting: [],
    parentId: null,
    label: null,
    metadata: { team: "a" },
  });
  expect(() => Object.assign(seen ?? {}, { name: "other" })).toThrow(TypeError);
  const printed = scene.row().output as Record<string, unknown>;
  expect(printed).toMatchObject({ execution_id: "e1", parent_id: null, state: "RUNNING" });
  expect(printed).not.toHaveProperty("executionId");
  expect((printed["events"] as { type: string }[]).at(-1)).toMatchObject({
    type: "TASK_COMPLETED",
  });
});

test.each([
  ["one with a label", "order 7"],
  ["one without", null],
])(
  "I9 the label of %s stays for its code, whatever an operator calls it meanwhile",
  async (_, name) => {
    const seen: unknown[] = [];
    const wf = workflow({ name: "w" }, async (_, { label }) => {
      seen.push(label);
      await sleep("1h");
      return label;
    });
    const scene = new Scene([wf]);
    const { execution_id } = scene.engine.start(wf, null, { name });
    await scene.settle();
    scene.engine.rows.set(execution_id, { ...scene.row(), name: "renamed" });
    await scene.toEnd();
    expect(seen).toEqual([name, name]);
    expect(scene.row()).toMatchObject({ name: "renamed", output: name });
  },
);

test("EXE-35 a failure keeps five causes and no stack; what is thrown may be anything", async () => {
  let chain: Error = new Error("level 9");
  for (let level = 8; level >= 0; level--)
    chain = new RangeError(`level ${level}`, { cause: chain });
  const things: unknown[] = [chain, "text", { code: 7 }, undefined, 12n, Symbol("s")];
  const throws = task({ name: "throws" }, async (n: number) => {
    throw things[n];
  });
  const wf = workflow({ name: "w" }, async () => {
    const failures: unknown[] = [];
    for (const n of things.keys()) {
      await throws(n).catch((error: unknown) => failures.push((error as TaskError).failure));
    }
    return failures;
  });
  const scene = new Scene([wf]);
  await scene.run();
  const [deep, ...others] = scene.row().output as {
    type: string;
    message: string;
    cause: unknown;
  }[];
  let depth = 0;
  for (let failure: unknown = deep; failure; failure = (failure as { cause: unknown }).cause)
    depth++;
  expect(depth - 1, "causes below the failure itself").toBe(5);
  expect(JSON.stringify(deep)).not.toMatch(/file:|"\/|stack/);
  expect(others.map(({ type }) => type)).toEqual(Array(5).fill("NonError"));
  expect(others.map(({ message }) => message).slice(0, 2)).toEqual(["text", '{"code":7}']);
});

test("EXE-36 a TerminalError in a body fails the execution with its type, details and cause", async () => {
  const wf = workflow({ name: "w" }, async () => {
    throw new TerminalError("no", {
      type: "Gone",
      details: { sku: 7 },
      cause: new RangeError("deep"),
    });
  });
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.row().failure).toMatchObject({
    type: "Gone",
    code: null,
    message: "no",
    retryable: false,
    details: { sku: 7 },
    cause: { type: "RangeError", message: "deep" },
  });
});

test("EXE-40 a pause inside an attempt never counts as its failure, nor its time towards the attempt's timeout", async () => {
  let bodies = 0;
  const asks = task(
    { name: "asks", timeout: "10s", retry: { maxAttempts: 2, delay: 0 } },
    async (_, { attempt }) => {
      bodies++;
      return [attempt, await pause("p")];
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => asks())]);
  await scene.start();
  await scene.advance(60_000);
  expect(scene.row().state).toBe("PAUSED");
  scene.engine.resume("e1", "late");
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [1, "late"] });
  expect(bodies, "once before the pause, once after").toBe(2);
  expect(scene.types()).not.toContain("TASK_RETRY_STARTED");
});

test("EXE-40 that is so too while a sibling keeps the execution running; the rest of the time counts", async () => {
  let finish = () => {};
  const slow = task({ name: "slow" }, () => new Promise<void>((resolve) => (finish = resolve)));
  const asks = task({ name: "asks", timeout: "10s" }, async (_: undefined, { signal }) => {
    const answer = await pause<string>("p");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return answer;
  });
  const wf = workflow({ name: "w" }, async () =>
    parallel([() => asks(), () => slow()], { settle: true }),
  );
  const scene = new Scene([wf]);
  await scene.start();
  await scene.advance(60_000);
  expect(scene.row()).toMatchObject({ state: "RUNNING", waits: [{ name: "p" }] });
  scene.engine.resume("e1", "late");
  await scene.advance(9_900);
  expect(scene.types()).not.toContain("TASK_FAILED");
  await scene.advance(200);
  const failed = scene.log().find(({ type }) => type === "TASK_FAILED");
  expect(failed).toMatchObject({
    source_id: "parallel~1/asks~1",
    value: { type: "TaskTimeoutError" },
  });
  finish();
  await scene.toEnd();
  expect(scene.row().state).toBe("COMPLETED");
});

test("EXE-41 a timed-out attempt is retried, its late result ignored", async () => {
  const signals: AbortSignal[] = [];
  const slow = task(
    { name: "slow", timeout: "10s", retry: { maxAttempts: 2, delay: 0 } },
    (_: undefined, { attempt, signal }) => {
      signals.push(signal);
      return attempt === 1 ? new Promise<string>(() => {}) : "second";
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => slow())]);
  await scene.run();
  expect(scene.row().output).toBe("second");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  const retry = scene.log().find(({ type }) => type === "TASK_RETRY_STARTED");
  expect(retry?.value).toMatchObject({ error: { type: "TaskTimeoutError", retryable: true } });
});

test("EXE-38 retryIf sees the failure and ends the attempts", async () => {
  const asked: unknown[] = [];
  const flaky = task(
    {
      name: "flaky",
      retry: {
        maxAttempts: 9,
        delay: 0,
        retryIf: ({ message, attempts }) => {
          asked.push([message, attempts]);
          return message !== "no 2";
        },
      },
    },
    async (_: undefined, { attempt }) => {
      throw new Error(`no ${attempt}`);
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => flaky())]);
  await scene.run();
  expect(asked).toEqual([
    ["no 1", 1],
    ["no 2", 2],
  ]);
  expect(scene.row().failure).toMatchObject({ message: "no 2", attempts: 2 });
});

test("EXE-39 a failed fallback fails the call with its own failure, the original as cause", async () => {
  const broken = task(
    {
      name: "broken",
      fallback: () => {
        throw new RangeError("fallback");
      },
    },
    async (): Promise<string> => {
      throw new Error("original");
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => broken())]);
  await scene.run();
  expect(scene.row().failure).toMatchObject({
    type: "RangeError",
    message: "fallback",
    cause: { message: "original" },
  });
  expect(scene.story().slice(4, 7)).toEqual([
    "TASK_FALLBACK_STARTED broken~1",
    "TASK_FALLBACK_FAILED broken~1",
    "TASK_FAILED broken~1",
  ]);
});
