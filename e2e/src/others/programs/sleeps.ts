import { setTimeout as wait } from "node:timers/promises";
import { now, parallel, sleep, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";
import { echo, late } from "./tasks.ts";

async function longerThan(ms: number, run: () => Promise<unknown>): Promise<boolean> {
  const before = Date.now();
  await run();
  return Date.now() - before >= ms;
}

export const atLeastSoLong = workflow({ name: "at_least_so_long" }, async () => [
  await longerThan(50, () => sleep(50)),
  await longerThan(100, () => sleep("0.1s")),
  await longerThan(1_100, () => sleep("1100ms")),
]);

export const measuredOutside = workflow({ name: "measured_outside" }, async () => {
  const before = await now();
  await sleep(300);
  const after = await now();
  return after.getTime() - before.getTime() >= 300;
});

export const shortestSleeps = workflow({ name: "shortest_sleeps" }, async () => {
  await sleep(0);
  await sleep(0.4);
  await sleep(1.5);
  await sleep(new Date(Date.now() - 1_000));
  await sleep(new Date(Date.now() + 20));
  return echo("slept five times");
});

export const refusedSleeps = workflow({ name: "refused_sleeps" }, async () => {
  const refusals: unknown[] = [];
  for (const duration of [-1, Number.NaN, "soon", new Date(Number.NaN)]) {
    await sleep(duration as number).catch((error: Error) => refusals.push(error.name));
  }
  await sleep(10);
  return refusals;
});

export const sleepsBetween = workflow({ name: "sleeps_between" }, async () => {
  const out: number[] = [];
  for (let i = 0; i < 6; i++) {
    out.push(await echo(i));
    await sleep(30);
  }
  return out;
});

export const tenSleepsAtOnce = workflow({ name: "ten_sleeps_at_once" }, async () => {
  const order: number[] = [];
  const sleeper = async (i: number) => {
    await sleep(20 + 200 * i);
    order.push(i);
  };
  await Promise.all([9, 3, 7, 1, 5, 0, 8, 2, 6, 4].map(sleeper));
  await echo(order.join());
  return order;
});

/** Leaves its thread to nobody for so long. */
const computes = task({ name: "computes" }, async (ms: number, ctx) => {
  await did(ctx, `computes ${ms}`);
  const end = performance.now() + ms;
  while (performance.now() < end);
});

export const sleepsOnBothSides = workflow({ name: "sleeps_on_both_sides" }, async () => {
  // One of these is long enough to give the slot back, and the other one is not.
  const order: string[] = [];
  const long = sleep(1_300).then(() => order.push("1300"));
  const short = sleep(700).then(() => order.push("700"));
  await Promise.all([computes(1_500), long, short]);
  return order;
});

export const ownTimers = workflow({ name: "own_timers" }, async () => {
  const seen: string[] = [];
  const done = Promise.withResolvers<void>();
  setTimeout(() => seen.push("second"), 400);
  setTimeout(() => seen.push("first"), 50);
  const never = setTimeout(() => seen.push("never"), 200);
  clearTimeout(never);
  setTimeout(
    (text: string) => {
      seen.push(text);
      done.resolve();
    },
    800,
    "third",
  );
  await done.promise;
  await echo(seen.join());
  return seen;
});

export const ownInterval = workflow({ name: "own_interval" }, async () => {
  let ticks = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      ticks++;
      if (ticks < 4) return;
      clearInterval(timer);
      resolve();
    }, 25);
  });
  await sleep(60);
  return echo(ticks);
});

export const timersOfPromises = workflow({ name: "timers_of_promises" }, async () => {
  const text = await wait(30, "given back");
  await echo(text);
  return text;
});

export const afterMicrotasks = workflow({ name: "after_microtasks" }, async () => {
  await Promise.resolve();
  await Promise.resolve();
  await sleep(40);
  return echo("slept");
});

export const whileWorking = workflow({ name: "while_working" }, async () => {
  const [, , text] = await parallel([
    () => sleep(80),
    () => sleep(1_050),
    () => late({ ms: 200, value: "worked" }),
  ]);
  return echo(text);
});

const naps = task({ name: "naps" }, async (ms: number, ctx) => {
  await did(ctx, `naps ${ms}`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await sleep(ms);
  await sleep(ms);
  return `${ms} twice`;
});

export const sleepsInTask = workflow({ name: "sleeps_in_task" }, async () => [
  await naps(30),
  await naps(1_020),
]);

export const napsAtOnce = workflow({ name: "naps_at_once" }, () =>
  Promise.all([naps(40), naps(25), sleep(60).then(() => "beside")]),
);

export const untilADate = workflow({ name: "until_a_date" }, async () => {
  const due = new Date(Date.now() + 1_300);
  await sleep(due);
  return Date.now() >= due.getTime();
});

export const overdueTogether = workflow({ name: "overdue_together" }, async () => {
  const order: number[] = [];
  const sleeper = (ms: number) => sleep(ms).then(() => order.push(ms));
  await Promise.all([sleeper(900), sleeper(100), sleeper(1_200), sleeper(500), echo("beside")]);
  await echo(order.join());
  return order;
});

export const sleepsForgotten = workflow({ name: "sleeps_forgotten" }, async () => {
  void sleep("1h");
  void sleep(20);
  setTimeout(() => {}, 3_600_000);
  return echo("ends all the same");
});

export const sleeps: Programs = {
  at_least_so_long: {
    sees: "a sleep is never shorter than was asked for",
    output: [true, true, true],
  },
  measured_outside: {
    sees: "a sleep is never shorter by the clock outside either",
    output: true,
  },
  shortest_sleeps: {
    sees: "sleeps of nothing, of parts of a millisecond, until a past and a near date all end",
    output: "slept five times",
    did: ["echo slept five times"],
  },
  refused_sleeps: {
    sees: "a duration that is none is refused, and a later one is slept",
    output: ["TypeError", "TypeError", "TypeError", "TypeError"],
  },
  sleeps_between: {
    sees: "sleeps between tasks repeat none of them",
    output: [0, 1, 2, 3, 4, 5],
    did: [0, 1, 2, 3, 4, 5].map((i) => `echo ${i}`),
  },
  ten_sleeps_at_once: {
    sees: "sleeps that are begun at once end in the order of their lengths",
    output: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    did: ["echo 0,1,2,3,4,5,6,7,8,9"],
  },
  sleeps_on_both_sides: {
    sees: "sleeps that are over by the time anybody looks end in the order of their ends",
    output: ["700", "1300"],
  },
  own_timers: {
    sees: "timers of the language fire in the order of their times, and one that was cleared does not",
    output: ["first", "second", "third"],
    did: ["echo first,second,third"],
  },
  own_interval: {
    sees: "a repeated timer fires until it is cleared, and not once more",
    output: 4,
    did: ["echo 4"],
  },
  timers_of_promises: {
    sees: "a timer that is awaited gives the value it was set with",
    output: "given back",
    did: ["echo given back"],
  },
  after_microtasks: {
    sees: "a sleep that begins after promises were settled is slept like any other",
    output: "slept",
    did: ["echo slept"],
  },
  while_working: {
    sees: "sleeps end beside a task that works",
    output: "worked",
    did: ["late worked", "echo worked"],
  },
  sleeps_in_task: {
    sees: "a task that sleeps between two lines goes on behind its sleeps",
    output: ["30 twice", "1020 twice"],
  },
  naps_at_once: {
    sees: "tasks that sleep, beside a sleep of the workflow, all go on",
    output: ["40 twice", "25 twice", "beside"],
  },
  until_a_date: {
    sees: "a sleep until a date ends at that date and not before it",
    output: true,
  },
  overdue_together: {
    sees: "sleeps that are all over when their worker was lost end in the order of their lengths",
    output: [100, 500, 900, 1_200],
    didInAnyOrder: ["echo beside", "echo 100,500,900,1200"],
  },
  sleeps_forgotten: {
    sees: "sleeps that nobody waits for keep no workflow from ending",
    output: "ends all the same",
    did: ["echo ends all the same"],
  },
};
