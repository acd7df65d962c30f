import { expect, test } from "vitest";
import {
  getConfig,
  graph,
  map,
  now,
  parallel,
  pause,
  pipeline,
  progress,
  random,
  signal,
  sleep,
  task,
  uuid,
  workflow,
} from "../index.ts";
import { double } from "./testing/run-in-memory.ts";
import { Scene } from "./testing/scene.ts";

/** What a body that does this fails with. */
async function failureOf(body: () => unknown): Promise<string> {
  const scene = new Scene([workflow({ name: "w" }, async () => body())]);
  await scene.run();
  const { failure, state } = scene.row();
  expect(state).toBe("FAILED");
  return `${failure?.type}: ${failure?.message}`;
}

const hour = "1h" as const;

test("EXE-2 a task called outside a workflow says how to call it", async () => {
  await expect(double(1)).rejects.toMatchObject({
    code: "no_execution",
    message:
      "task double was called outside a workflow; call it from one, or call double.fn(input, ctx) directly",
  });
});

test.each<[string, () => Promise<unknown>]>([
  ["parallel", () => parallel([])],
  ["map", () => map([], () => 1)],
  ["pipeline", () => pipeline(1, (n: number) => n)],
  ["pause", () => pause("p")],
  ["sleep", () => sleep(1)],
  ["signal", () => signal("s")],
  ["now", () => now()],
  ["random", () => random()],
  ["uuid", () => uuid()],
  ["getConfig", () => getConfig("k")],
])("EXE-7 %s outside a workflow rejects and names itself", async (name, use) => {
  await expect(use()).rejects.toMatchObject({
    code: "no_execution",
    message: `${name}() was called outside a workflow`,
  });
});

test("EXE-7 progress outside a task does nothing", () => {
  expect(progress({ step: 1 })).toBeUndefined();
});

test("EXE-33 a body that never awaits a task it started is told of it, and the task is given up", async () => {
  const hangs = task({ name: "hangs" }, () => new Promise(() => {}));
  const wf = workflow({ name: "forgetful" }, async () => {
    void hangs();
    return "done";
  });
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "done" });
  expect(scene.story().slice(-2)).toEqual(["TASK_CANCELLED hangs~1", "WORKFLOW_COMPLETED"]);
  expect(
    scene.clock.logged.filter(({ level }) => level === "warn").map(({ message }) => message),
  ).toEqual([
    "workflow default/forgetful ended while hangs~1 ran: await every call, or collect them with parallel(); what is still open is cancelled",
  ]);
});

test("EXE-33 what a body left open has sibling_grace to settle; then it is cancelled", async () => {
  let settle = () => {};
  const nearly = task({ name: "nearly" }, () => new Promise<void>((resolve) => (settle = resolve)));
  const never = task({ name: "never" }, () => new Promise(() => {}));
  const wf = workflow({ name: "w" }, async () => {
    void nearly();
    void never();
    void pause("open");
  });
  const scene = new Scene([wf], { limits: { sibling_grace: 2 } });
  await scene.start();
  await scene.advance(1_000);
  settle();
  await scene.settle();
  expect(scene.row().state, "the grace is not over").toBe("RUNNING");
  await scene.advance(1_000);
  expect(scene.story().slice(-4)).toEqual([
    "TASK_CANCELLED pause~1",
    "TASK_COMPLETED nearly~1",
    "TASK_CANCELLED never~1",
    "WORKFLOW_COMPLETED",
  ]);
});

test("EXE-33 what a body left open is not run again for the copy that ends it after a crash", async () => {
  let runs = 0;
  const fallback = () => {
    runs++;
    return new Promise<never>(() => {});
  };
  const left = task({ name: "left", fallback }, async () => {
    throw new Error("no");
  });
  const wf = workflow({ name: "w" }, async () => {
    left().catch(() => {});
    await sleep(10);
    return "done";
  });
  const scene = new Scene([wf]);
  await scene.start();
  await scene.advance(20);
  await scene.crash();
  await scene.toEnd();
  expect(runs).toBe(1);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "done", generation: 2 });
  expect(scene.story().slice(-2)).toEqual(["TASK_CANCELLED left~1", "WORKFLOW_COMPLETED"]);
});

test("EXE-33 a body that returns before its children gives them up", async () => {
  const child = workflow({ name: "child" }, async () => sleep(hour));
  const wf = workflow({ name: "w" }, async () => {
    const { call } = await import("../index.ts");
    void call(child);
    await sleep(10);
  });
  const scene = new Scene([wf, child]);
  await scene.run();
  expect(scene.row().state).toBe("COMPLETED");
  expect(scene.row("e2").state).toBe("CANCELLED");
});

test("two tasks of one name that run different functions are refused: the log could not tell them apart", async () => {
  const one = task({ name: "same" }, async () => 1);
  const two = task({ name: "same" }, async () => 2);
  const message = await failureOf(async () => [await one(), await two()]);
  expect(message).toContain("two tasks are named same and run different functions");
  expect(message).toContain("rename one of them");
});

test("EXE-2 a copy made with with() is the same task to the log", async () => {
  const step = task({ name: "step" }, async (n: number) => n);
  const scene = new Scene([
    workflow({ name: "w" }, async () => [await step(1), await step.with({ timeout: "1s" })(2)]),
  ]);
  await scene.run();
  expect(scene.row().output).toEqual([1, 2]);
});

test.each<[string, () => unknown, string]>([
  [
    "a negative sleep",
    () => sleep(-5),
    'TypeError: sleep() takes a Date or a duration of up to 365000d: milliseconds from 0, or a number with ms, s, m, h or d such as "1.5s"; got -5',
  ],
  ["a sleep in words", () => sleep("1 hour" as never), 'such as "1.5s"; got 1 hour'],
  [
    "a sleep until no date",
    () => sleep(new Date("tomorrow")),
    "TypeError: sleep() must be a date; got Invalid Date",
  ],
  ["a sleep beyond what dates can tell", () => sleep("999999999d"), "TypeError: sleep()"],
  [
    "a pause beyond what dates can tell",
    () => pause("p", { after: "999999999d" }),
    'TypeError: option after of pause("p")',
  ],
  [
    "a signal beyond what dates can tell",
    () => signal("s", { timeout: "999999999d" }),
    'TypeError: option timeout of signal("s")',
  ],
  ["a pause without a name", () => pause("" as string), "TypeError: pause() needs a name"],
  ["a pause name of the engine's", () => pause("engine.mine"), 'not beginning with "engine."'],
  ["a signal name of the engine's", () => signal("engine.mine"), 'not beginning with "engine."'],
  [
    "two wakes of a pause",
    () => pause("p", { until: new Date(), after: "1s" }),
    'TypeError: pause("p") takes one of until, after, onComplete; got until and after',
  ],
  [
    "a pause of no time",
    () => pause("p", { after: 0 }),
    'option after of pause("p") must be a duration above 0 and up to 365000d, such as "2d"; got 0',
  ],
  [
    "a pause until no date",
    () => pause("p", { until: "soon" }),
    'option until of pause("p") must be a date; got soon',
  ],
  [
    "onComplete that is no id",
    () => pause("p", { onComplete: 7 as never }),
    'option onComplete of pause("p") must be the id of an execution',
  ],
  [
    "an unknown pause option",
    () => pause("p", { afer: "1s" } as never),
    'pause() has no option "afer"; did you mean after?',
  ],
  [
    "an unknown signal option",
    () => signal("s", { timeOut: 1 } as never),
    'signal() has no option "timeOut"; did you mean timeout?',
  ],
  [
    "a signal timeout of no time",
    () => signal("s", { timeout: "0s" }),
    'option timeout of signal("s") must be a duration above 0',
  ],
  [
    "a promise for parallel",
    () => parallel([double(1) as never]),
    "TypeError: parallel() takes functions: item 0 is a object; write () => task(input) instead of task(input)",
  ],
  [
    "no concurrency",
    () => parallel([], { concurrency: 0 }),
    "parallel() needs a concurrency of at least 1; got 0",
  ],
  [
    "an unknown option of map",
    () => map([1], double, { limit: 2 } as never),
    'map() has no option "limit"; it takes: concurrency, settle',
  ],
  [
    "a step of pipeline that is none",
    () => pipeline(1, 2 as never),
    "pipeline() takes functions: step 0 is not one",
  ],
  [
    "a random range the wrong way round",
    () => random(6, 1),
    "random(min, max) needs integers with min <= max; got 6 and 1",
  ],
  [
    "an argument that cannot be encoded",
    () => double({ f: () => 1 } as never),
    "UnencodableValueError: input.f cannot be stored: a function has no stored form",
  ],
])("bad input: %s is its own error that says what to do", async (_, use, message) => {
  expect(await failureOf(use)).toContain(message);
});

test("bad input: an unknown retry option is refused at definition with the nearest known", () => {
  const define = () => task({ name: "t", retry: { maxAttempt: 3 } as never }, async () => 1);
  expect(define).toThrow(/did you mean maxAttempts/);
  expect(define).toThrow(expect.objectContaining({ code: "invalid_definition" }));
});

test("EXE-7 a map whose iterator throws starts nothing", async () => {
  const scene = new Scene([
    workflow({ name: "w" }, async () =>
      map(
        (function* () {
          yield 1;
          throw new Error("no more");
        })(),
        double,
      ),
    ),
  ]);
  await scene.run();
  expect(scene.row().failure?.message).toBe("no more");
  expect(scene.types()).not.toContain("TASK_STARTED");
  const empty = new Scene([workflow({ name: "w" }, async () => map([], double))]);
  await empty.run();
  expect(empty.row().output).toEqual([]);
});

test("bad input: a pause name that is open already is refused, and free again once answered", async () => {
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    const first = pause("review");
    await pause("review").catch((error: unknown) => seen.push((error as Error).message));
    const answers = [await first];
    answers.push(await pause("review"));
    return answers;
  });
  const scene = new Scene([wf]);
  await scene.start();
  expect(seen).toEqual([
    'pause "review" is open already: a resume could not tell the two apart; give this one another name, or await the first before',
  ]);
  scene.engine.resume("e1", 1, "review");
  await scene.settle();
  scene.engine.resume("e1", 2, "review");
  await scene.settle();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [1, 2] });
});

test("bad input: a resume that names none of two open pauses is refused, both stay open", async () => {
  const scene = new Scene([
    workflow({ name: "w" }, async () => parallel([() => pause("a"), () => pause("b")])),
  ]);
  await scene.start();
  expect(() => scene.engine.resume("e1", 1)).toThrow(
    expect.objectContaining({ code: "ambiguous_pause" }),
  );
  expect(() => scene.engine.resume("e1", 1, "c")).toThrow(
    expect.objectContaining({ code: "not_paused" }),
  );
  expect(scene.row()).toMatchObject({ state: "PAUSED", waits: [{ name: "a" }, { name: "b" }] });
});

test("EXE-8 names of built-ins are refused for tasks", () => {
  for (const name of ["parallel", "get_config", "signal", "call", "graph"]) {
    expect(() => task({ name }, async () => 1)).toThrow(/taken by built-in/);
  }
  expect(() => graph("a/b", { n: { run: () => 1 } })).toThrow(/needs a name/);
});
