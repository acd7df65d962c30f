import type { EventType } from "@engine/contract";
import { expect, test } from "vitest";
import { parallel, sleep, type TaskContext, task, workflow } from "../index.ts";
import { crashEverywhere } from "./testing/crash-sweep.ts";
import { Scene } from "./testing/scene.ts";

const HOUR = 3_600_000;

/** The instants in the first event of a type. */
function instantsOf(scene: Scene, type: EventType): { until: string; not_before: string } {
  const event = scene.log().find((known) => known.type === type);
  if (!event) throw new Error(`no ${type}`);
  return event.value as never;
}

test("EXE-50 a long sleep is recorded with its instant, parks without a slot and is never early", async () => {
  const scene = new Scene([workflow({ name: "w" }, async () => sleep("1h"))]);
  await scene.start();
  const begun = scene.clock.now;
  const { until } = instantsOf(scene, "TASK_STARTED");
  expect(scene.row()).toMatchObject({
    state: "RUNNING",
    session: null,
    wake_at: Date.parse(until),
  });
  expect(scene.row().waits).toMatchObject([{ kind: "sleep", task_call_id: "sleep~1" }]);
  await scene.advance(Date.parse(until) - begun - 1);
  expect(scene.types()).not.toContain("TASK_COMPLETED");
  await scene.advance(1);
  expect(scene.story().slice(3)).toEqual([
    "TASK_STARTED sleep~1",
    "TASK_COMPLETED sleep~1",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "WORKFLOW_COMPLETED",
  ]);
  expect(scene.log()[7]).toMatchObject({
    type: "WORKFLOW_RESUMED",
    meta: { cause: "timer" },
    value: null,
  });
});

test("EXE-50 a sleep up to inline_wait keeps its slot, a longer one does not", async () => {
  const short = new Scene([workflow({ name: "w" }, async () => sleep(1_000))]);
  await short.start();
  expect(short.row()).toMatchObject({ session: "s1", waits: [], wake_at: null });
  const started = short.clock.now;
  await short.toEnd();
  expect(short.types()).not.toContain("WORKFLOW_RESUMING");
  expect(short.clock.now).toBeGreaterThanOrEqual(started + 990);

  const long = new Scene([workflow({ name: "w" }, async () => sleep(1_001))]);
  await long.start();
  expect(long.row().session).toBeNull();
});

test("EXE-50 a short sleep whose worker is lost goes on to the same instant", async () => {
  const scene = new Scene([workflow({ name: "w" }, async () => sleep(800))]);
  await scene.start();
  const { until } = instantsOf(scene, "TASK_STARTED");
  await scene.advance(500);
  await scene.crash();
  await scene.toEnd();
  expect(scene.clock.now).toBe(Date.parse(until));
  expect(scene.types().filter((t) => t === "TASK_STARTED")).toHaveLength(1);
});

test.each([
  ["a date that is past", () => sleep(new Date(0))],
  ["no time at all", () => sleep(0)],
])("EXE-50 %s is over at once", async (_, wait) => {
  const scene = new Scene([workflow({ name: "w" }, async () => wait())]);
  const { now } = scene.clock;
  await scene.start();
  expect(scene.row().state).toBe("COMPLETED");
  expect(scene.clock.now).toBe(now);
});

test("EXE-7 what is below a millisecond is rounded up to one", async () => {
  const scene = new Scene([workflow({ name: "w" }, async () => sleep(0.01))]);
  const { now } = scene.clock;
  await scene.start();
  const { until } = instantsOf(scene, "TASK_STARTED");
  expect(Date.parse(until)).toBe(now + 1);
});

test("EXE-50 a part of a millisecond is waited out, never cut off", async () => {
  const scene = new Scene([workflow({ name: "w" }, async () => sleep(2.3))]);
  const { now } = scene.clock;
  await scene.start();
  expect(Date.parse(instantsOf(scene, "TASK_STARTED").until)).toBe(now + 3);
});

test("EXE-50 a sleep until a date ends at it", async () => {
  const scene = new Scene([
    workflow({ name: "w" }, async () => sleep(new Date(Date.UTC(2031, 0, 1)))),
  ]);
  await scene.run();
  expect(scene.clock.now).toBe(Date.UTC(2031, 0, 1));
  expect(scene.row().state).toBe("COMPLETED");
});

test("EXE-17 row 5: sleeps beside each other wait for the earliest, and again for the next", async () => {
  const wf = workflow({ name: "w" }, async () =>
    parallel([() => sleep("3h"), () => sleep("1h"), () => sleep("2h")]),
  );
  const scene = new Scene([wf]);
  await scene.run();
  const ended = scene.story().filter((line) => line.startsWith("TASK_COMPLETED"));
  expect(ended).toEqual(
    [2, 3, 1]
      .map((n) => `TASK_COMPLETED parallel~1/sleep~${n}`)
      .concat("TASK_COMPLETED parallel~1"),
  );
  expect(scene.types().filter((t) => t === "WORKFLOW_RESUMING")).toHaveLength(3);
  expect(scene.types(), "no pause: nobody can answer").not.toContain("WORKFLOW_PAUSED");
});

test("EXE-19 a sleep that ends while a task runs reaches the body at once", async () => {
  let finish = () => {};
  const slow = task({ name: "slow" }, () => new Promise<void>((resolve) => (finish = resolve)));
  const order: string[] = [];
  const wf = workflow({ name: "w" }, async () => {
    await Promise.all([
      slow().then(() => order.push("slow")),
      sleep("1h").then(() => order.push("sleep")),
    ]);
    return order;
  });
  const scene = new Scene([wf]);
  await scene.start();
  expect(scene.row().session).toBe("s1");
  await scene.advance(HOUR);
  expect(order).toEqual(["sleep"]);
  expect(scene.types()).not.toContain("WORKFLOW_RESUMING");
  finish();
  await scene.toEnd();
  expect(scene.row().output).toEqual(["sleep", "slow"]);
});

test("EXE-38 a retry delay longer than inline_wait parks, and the next attempt comes when it is over", async () => {
  const attempts: [number, number][] = [];
  const clock = () => scene.clock.now;
  const flaky = task(
    { name: "flaky", retry: { maxAttempts: 3, delay: "10s", backoff: 3, maxDelay: "20s" } },
    async (_, { attempt }) => {
      attempts.push([attempt, clock()]);
      if (attempt < 3) throw new Error("no");
      return attempt;
    },
  );
  const scene: Scene = new Scene([workflow({ name: "w" }, async () => flaky())]);
  await scene.start();
  expect(scene.row()).toMatchObject({ state: "RUNNING", session: null });
  expect(scene.row().waits).toMatchObject([
    { kind: "retry", task_call_id: "flaky~1", name: "flaky" },
  ]);
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: 3 });
  const [first, second, third] = attempts.map(([, at]) => at);
  expect(attempts.map(([n]) => n)).toEqual([1, 2, 3]);
  expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(10_000);
  expect(Number(third) - Number(second), "10s × 3, but at most 20s").toBeGreaterThanOrEqual(20_000);
  expect(Number(third) - Number(second)).toBeLessThan(21_000);
  const starts = scene.log().filter(({ type }) => type === "TASK_RETRY_STARTED");
  expect(starts.map(({ value }) => value)).toMatchObject([
    { attempt: 2, max_attempts: 3, delay_ms: 10_000, error: { message: "no", attempts: 1 } },
    { attempt: 3, max_attempts: 3, delay_ms: 20_000, error: { message: "no", attempts: 2 } },
  ]);
});

test("EXE-38 a re-dispatch keeps the attempt's number and its not_before", async () => {
  const attempts: number[] = [];
  const flaky = task(
    { name: "flaky", retry: { maxAttempts: 2, delay: "900ms" } },
    async (_, ctx) => {
      attempts.push(ctx.attempt);
      if (ctx.attempt === 1) throw new Error("no");
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => flaky())]);
  await scene.start();
  await scene.advance(300);
  await scene.crash();
  expect(attempts).toEqual([1]);
  const { not_before } = instantsOf(scene, "TASK_RETRY_STARTED");
  await scene.toEnd();
  expect(attempts).toEqual([1, 2]);
  expect(scene.clock.now).toBe(Date.parse(not_before));
});

test("I7 wherever all workers are lost, sleeps, retries and tasks come to the same end", async () => {
  const ran: string[] = [];
  const mark = ({ executionId, taskCallId }: TaskContext) =>
    ran.push(`${executionId}:${taskCallId}`);
  const step = task({ name: "step" }, async (n: number, ctx) => {
    mark(ctx);
    return n * 2;
  });
  const flaky = task(
    { name: "flaky", retry: { maxAttempts: 3, delay: "1m" } },
    async (_: undefined, ctx) => {
      mark(ctx);
      if (ctx.attempt < 3) throw new Error("no");
      return ctx.attempt;
    },
  );
  const wf = workflow({ name: "w" }, async () => {
    const first = await step(1);
    await sleep("1h");
    const rest = await parallel([
      () => flaky(),
      async () => {
        await sleep(500);
        return step(first);
      },
      () => sleep(new Date(Date.UTC(2030, 5, 1))),
    ]);
    return [first, rest];
  });
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.row().state).toBe("COMPLETED");
  await crashEverywhere(scene, ran);
});
