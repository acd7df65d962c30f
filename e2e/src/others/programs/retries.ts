import { map, TaskError, TerminalError, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";

const QUICK = { maxAttempts: 3, delay: 20, backoff: 1 } as const;

class Busy extends Error {}

/** Throws before the attempt that it is told. */
const until = task({ name: "until", retry: QUICK }, async (attempt: number, ctx) => {
  await did(ctx, `attempt ${ctx.attempt}`);
  if (ctx.attempt < attempt) throw new Busy(`not at attempt ${ctx.attempt}`);
  return ctx.attempt;
});

export const thirdTime = workflow({ name: "third_time" }, () => until(3));

export const everyTime = workflow({ name: "every_time" }, async () => {
  const error = await until(9).catch((error: unknown) => error);
  if (!(error instanceof TaskError)) return error;
  const { attempts, type, retryable } = error.failure;
  return { attempts, type, retryable, message: error.message };
});

export const everyTimeUncaught = workflow({ name: "every_time_uncaught" }, () => until(9));

export const freshBudget = workflow({ name: "fresh_budget" }, async () => {
  const first = await until(2);
  const second = await until(3);
  const third = await until(4).catch((error: TaskError) => error.failure.attempts);
  return [first, second, third];
});

const once = task({ name: "once" }, async (_: unknown, ctx) => {
  await did(ctx, `attempt ${ctx.attempt}`);
  throw new Error("at once");
});

export const notUnlessAsked = workflow({ name: "not_unless_asked" }, () => once(null));

const hopeless = task({ name: "hopeless", retry: QUICK }, async (_: unknown, ctx) => {
  await did(ctx, `attempt ${ctx.attempt}`);
  const details = { code: 51, left: [1, 2] };
  throw new TerminalError("declined", { type: "CardDeclined", details });
});

export const giveUpAtOnce = workflow({ name: "give_up_at_once" }, async () => {
  try {
    return await hopeless(null);
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    const { type, details, attempts } = error.failure;
    return { type, details: [details?.["code"], details?.["left"]], attempts };
  }
});

const picky = task(
  { name: "picky", retry: { ...QUICK, retryIf: ({ type }) => type === "Busy" } },
  async (_: unknown, ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    if (ctx.attempt === 1) throw new Busy("wait a moment");
    throw new RangeError("never");
  },
);

export const onlyWhatMayPass = workflow({ name: "only_what_may_pass" }, () =>
  picky(null).catch(({ failure }: TaskError) => [failure.type, failure.attempts]),
);

const asked = task(
  {
    name: "asked",
    retry: {
      ...QUICK,
      maxAttempts: 10,
      retryIf: async ({ message }) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return message !== "3";
      },
    },
  },
  async (_: unknown, ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    throw new Error(`${ctx.attempt}`);
  },
);

export const askedInTime = workflow({ name: "asked_in_time" }, () =>
  asked(null).catch(({ failure }: TaskError) => failure.attempts),
);

const broken = task(
  {
    name: "broken",
    retry: {
      ...QUICK,
      retryIf: () => {
        throw new Error("the question itself is wrong");
      },
    },
  },
  async (_: unknown, ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    throw new Error("the work went wrong");
  },
);

export const brokenQuestion = workflow({ name: "broken_question" }, () =>
  broken(null).catch(({ failure }: TaskError) => [failure.message, failure.attempts]),
);

const refusing = task(
  {
    name: "refusing",
    retry: { ...QUICK, retryIf: () => Promise.reject(new Error("no")) },
  },
  async (_: unknown, ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    throw new Error("the work went wrong");
  },
);

export const refusedQuestion = workflow({ name: "refused_question" }, () =>
  refusing(null).catch(({ failure }: TaskError) => [failure.message, failure.attempts]),
);

const growing = task(
  { name: "growing", retry: { maxAttempts: 4, delay: 40, backoff: 2, maxDelay: 100 } },
  async (times: readonly number[], ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    if (ctx.attempt < 4) throw new Error("again");
    return times.length;
  },
);

export const longerEachTime = workflow({ name: "longer_each_time" }, async (_, ctx) => {
  await growing([]);
  const retries = ctx.events.filter(({ type }) => type === "TASK_RETRY_STARTED");
  return retries.map(({ value }) => (value as { readonly delay_ms: number }).delay_ms);
});

const patient = task(
  { name: "patient", retry: { maxAttempts: 2, delay: "1200ms" } },
  async (_: unknown, ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    if (ctx.attempt === 1) throw new Error("later");
    return ctx.attempt;
  },
);

export const longBreak = workflow({ name: "long_break" }, () => patient(null));

export const longBreaksAtOnce = workflow({ name: "long_breaks_at_once" }, async () => {
  const all = await Promise.all([patient(1), until(2), patient(2), until(3)]);
  return all.join();
});

const keyed = task({ name: "keyed", retry: QUICK }, async (_: unknown, ctx) => {
  await did(ctx, `attempt ${ctx.attempt} ${ctx.idempotencyKey === `${ctx.executionId}:keyed~1`}`);
  if (ctx.attempt < 3) throw new Error("again");
  return ctx.taskCallId;
});

export const sameKey = workflow({ name: "same_key" }, () => keyed(null));

export const fiveAtOnce = workflow({ name: "five_at_once" }, () =>
  map([1, 2, 3, 2, 1], (attempt) => until(attempt)),
);

export const tenInTurn = workflow({ name: "ten_in_turn" }, async () => {
  let failed = 0;
  for (let i = 0; i < 10; i++) {
    try {
      await once(i);
    } catch {
      failed++;
    }
  }
  return failed;
});

export const byHand = workflow({ name: "by_hand" }, async () => {
  for (let left = 4; ; left--) {
    try {
      return await until.with({ retry: { maxAttempts: 1 } })(left === 1 ? 1 : 2);
    } catch (error) {
      if (left === 1) throw error;
    }
  }
});

const attempts = (count: number) => Array.from({ length: count }, (_, i) => `attempt ${i + 1}`);

export const retries: Programs = {
  third_time: {
    sees: "a task that throws twice is tried a third time, and the workflow goes on with what that gave",
    isTouchy: true,
    output: 3,
    did: attempts(3),
  },
  every_time: {
    sees: "when every attempt has thrown, the caller catches the last error with the number of attempts",
    output: { attempts: 3, type: "Busy", retryable: true, message: "not at attempt 3" },
    did: attempts(3),
  },
  every_time_uncaught: {
    sees: "an error that nobody catches after the last attempt fails the workflow, and is told as it was",
    failure: { type: "Busy", message: "not at attempt 3", attempts: 3, task_call_id: "until~1" },
    did: attempts(3),
  },
  fresh_budget: {
    sees: "each call has attempts of its own, whatever earlier calls of the task have used up",
    output: [2, 3, 3],
    did: [...attempts(2), ...attempts(3), ...attempts(3)],
  },
  not_unless_asked: {
    sees: "a task without a retry option is tried once",
    failure: { message: "at once", attempts: 1 },
    did: attempts(1),
  },
  give_up_at_once: {
    sees: "an error that says it is final ends the attempts, with its type and details",
    output: { type: "CardDeclined", details: [51, [1, 2]], attempts: 1 },
    did: attempts(1),
  },
  only_what_may_pass: {
    sees: "a condition on the error decides whether there is another attempt",
    output: ["RangeError", 2],
    did: attempts(2),
  },
  asked_in_time: {
    sees: "a condition that answers later is waited for, and its no ends the attempts",
    output: 3,
    did: attempts(3),
  },
  broken_question: {
    sees: "a condition that throws ends the attempts, and the error of the work is the one that is told",
    output: ["the work went wrong", 1],
    did: attempts(1),
  },
  refused_question: {
    sees: "a condition that rejects ends the attempts, and the error of the work is the one that is told",
    output: ["the work went wrong", 1],
    did: attempts(1),
  },
  longer_each_time: {
    sees: "each delay is longer than the one before, up to the longest",
    output: [40, 80, 100],
    did: attempts(4),
  },
  long_break: {
    sees: "a delay that is longer than a slot is kept for ends with the next attempt",
    output: 2,
    did: attempts(2),
  },
  long_breaks_at_once: {
    sees: "long and short delays of calls that are made at once each end with their own next attempt",
    output: "2,2,2,3",
    didInAnyOrder: [...attempts(2), ...attempts(2), ...attempts(2), ...attempts(3)],
  },
  same_key: {
    sees: "every attempt of a call has one key to show to other services",
    output: "keyed~1",
    did: ["attempt 1 true", "attempt 2 true", "attempt 3 true"],
  },
  five_at_once: {
    sees: "calls that are made at once each count their own attempts",
    output: [1, 2, 3, 2, 1],
    didInAnyOrder: [1, 2, 3, 2, 1].flatMap(attempts),
  },
  ten_in_turn: {
    sees: "errors that are caught in a loop are counted like any other value",
    output: 10,
    did: Array.from({ length: 10 }, () => "attempt 1"),
  },
  by_hand: {
    sees: "a loop of the author's own around a task that throws works as a retry does",
    output: 1,
    did: Array.from({ length: 4 }, () => "attempt 1"),
  },
};
