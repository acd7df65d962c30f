import { type TaskError, TaskTimeoutError, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";

/** Hangs before the attempt that it is told, whatever its signal says. */
const slowUntil = task(
  { name: "slow_until", timeout: 150, retry: { maxAttempts: 3, delay: 10 } },
  async (attempt: number, ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    if (ctx.attempt < attempt) await new Promise(() => {});
    return ctx.attempt;
  },
);

export const slowOnce = workflow({ name: "slow_once" }, () => slowUntil(2));

export const slowAlways = workflow({ name: "slow_always" }, async () => {
  try {
    return await slowUntil(9);
  } catch (error) {
    return error instanceof TaskTimeoutError ? [error.failure.code, error.failure.attempts] : error;
  }
});

const alone = task({ name: "alone", timeout: 100 }, async (_: unknown, ctx) => {
  await did(ctx, "begins");
  await new Promise((_resolve, reject) => {
    ctx.signal.addEventListener("abort", () => reject(new Error("its own words")));
  });
});

export const itsOwnWords = workflow({ name: "its_own_words" }, () =>
  alone(null).catch(({ failure }: TaskError) => [failure.type, failure.attempts]),
);

const quick = task({ name: "quick", timeout: "30s" }, async (ms: number, ctx) => {
  await did(ctx, `quick ${ms}`);
  await new Promise((resolve) => setTimeout(resolve, ms));
  return ms;
});

export const inTime = workflow({ name: "in_time" }, async () => [await quick(1), await quick(50)]);

const zombie = task({ name: "zombie", timeout: 80 }, async (how: string, ctx) => {
  await did(ctx, `zombie ${how}`);
  // Not by a clock: a timer of 200 ms that a busy thread sets counts from when the thread last looked.
  await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
  await new Promise((resolve) => setTimeout(resolve, 120));
  if (how === "throws") throw new Error("too late");
  return "too late";
});
const waits = task({ name: "waits" }, async (ms: number, ctx) => {
  await did(ctx, `waits ${ms}`);
  await new Promise((resolve) => setTimeout(resolve, ms));
});

export const tooLate = workflow({ name: "too_late" }, async () => {
  const first = await zombie("gives").catch((error: Error) => error.name);
  const second = await zombie("throws").catch((error: Error) => error.name);
  await waits(300);
  return [first, second];
});

const replaced = task(
  { name: "replaced", timeout: 80, fallback: (input: number) => -input },
  async (input: number, ctx) => {
    await did(ctx, `hangs ${input}`);
    return await new Promise<number>(() => {});
  },
);

export const replacedWhenSlow = workflow({ name: "replaced_when_slow" }, () => replaced(7));

const optedOut = task(
  {
    name: "opted_out",
    timeout: 80,
    retry: { maxAttempts: 5, delay: 10, retryIf: ({ type }) => type !== "TaskTimeoutError" },
  },
  async (_: unknown, ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    await new Promise(() => {});
  },
);

export const notWhenSlow = workflow({ name: "not_when_slow" }, () =>
  optedOut(null).catch(({ failure }: TaskError) => failure.attempts),
);

const checks = task({ name: "checks" }, async (timeout: number, ctx) => {
  await did(ctx, `checks ${timeout}`);
  // What is written out is refused when it is registered.
  const copy = Reflect.get(quick, "with") as (options: object) => unknown;
  try {
    copy({ timeout });
    return "taken";
  } catch (error) {
    return (error as { readonly code?: string }).code ?? "other";
  }
});

export const noTimeAtAll = workflow({ name: "no_time_at_all" }, async () => [
  await checks(0),
  await checks(-1),
  await checks(1),
]);

export const taskTimeouts: Programs = {
  slow_once: {
    sees: "an attempt that takes too long is given up, and the next one may succeed",
    right: ({ output, did }) => output === did.length && output >= 2,
  },
  slow_always: {
    sees: "when every attempt takes too long the caller is told that it was the time, and how often",
    output: ["timeout", 3],
    did: ["attempt 1", "attempt 2", "attempt 3"],
  },
  its_own_words: {
    sees: "a task that is told to stop and throws has failed by its timeout, whatever it threw",
    output: ["TaskTimeoutError", 1],
    did: ["begins"],
  },
  in_time: {
    sees: "a task that is quick enough is not disturbed by its timeout",
    output: [1, 50],
    did: ["quick 1", "quick 50"],
  },
  too_late: {
    sees: "what a task gives or throws after its time is dropped, and harms nobody",
    output: ["TaskTimeoutError", "TaskTimeoutError"],
    did: ["zombie gives", "zombie throws", "waits 300"],
  },
  replaced_when_slow: {
    sees: "a task that takes too long gives what its fallback gives",
    output: -7,
    did: ["hangs 7"],
  },
  not_when_slow: {
    sees: "a condition on the error can tell that slow attempts are not to be repeated",
    output: 1,
    did: ["attempt 1"],
  },
  no_time_at_all: {
    sees: "a timeout of nothing is refused where it is written",
    output: ["invalid_definition", "invalid_definition", "taken"],
    did: ["checks 0", "checks -1", "checks 1"],
  },
};
