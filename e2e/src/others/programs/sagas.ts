import { parallel, pause, sleep, TaskError, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";

interface Trip {
  /** What cannot be booked. */
  readonly without?: string;
  /** What cannot be taken back at once. */
  readonly sticky?: string;
}

const book = task({ name: "book" }, async ([what, trip]: readonly [string, Trip], ctx) => {
  await did(ctx, `book ${what}`);
  if (trip.without === what) throw new Error(`no ${what}`);
  return `${what} booked`;
});

const takeBack = task(
  { name: "take_back", retry: { maxAttempts: 3, delay: 15 } },
  async ([what, trip]: readonly [string, Trip], ctx) => {
    await did(ctx, `take back ${what} ${ctx.attempt}`);
    if (trip.sticky === what && ctx.attempt < 3) throw new Error("not yet");
  },
);

const PARTS = ["flight", "hotel", "car"] as const;

export const trip = workflow({ name: "trip" }, async (trip: Trip) => {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const booked: string[] = [];
    for (const part of PARTS) {
      undo.unshift(() => takeBack([part, trip]));
      booked.push(await book([part, trip]));
    }
    return booked;
  } catch (error) {
    for (const one of undo) await one();
    return (error as Error).message;
  }
});

export const tripThatFails = workflow({ name: "trip_that_fails" }, async (trip: Trip) => {
  const booked: string[] = [];
  try {
    for (const part of PARTS) {
      await book([part, trip]);
      booked.push(part);
    }
  } catch (error) {
    for (const part of booked.reverse()) await takeBack([part, trip]);
    throw error;
  }
});

export const tripAtOnce = workflow({ name: "trip_at_once" }, async (trip: Trip) => {
  const all = await parallel(
    PARTS.map((part) => () => book([part, trip])),
    { settle: true },
  );
  const booked = PARTS.filter((_, i) => all[i]?.status === "fulfilled");
  if (booked.length === PARTS.length) return "all";
  await Promise.all(booked.map((part) => takeBack([part, trip])));
  return "nothing";
});

export const tripUndoneAsleep = workflow({ name: "trip_undone_asleep" }, async (trip: Trip) => {
  try {
    await book(["flight", trip]);
    await sleep(60);
    await book(["hotel", trip]);
    return "gone";
  } catch {
    await sleep(1_050);
    await takeBack(["flight", trip]);
    return "home";
  }
});

export const tripRefused = workflow({ name: "trip_refused" }, async (trip: Trip) => {
  await book(["flight", trip]);
  const answer = await pause<boolean>("confirm", { output: "flight" });
  if (answer) return "gone";
  await takeBack(["flight", trip]);
  return "home";
});

const undoes = task(
  { name: "undoes", retry: { maxAttempts: 2, delay: 10 } },
  async (what: string, ctx) => {
    await did(ctx, `undo ${what} ${ctx.attempt}`);
    throw new Error("cannot");
  },
);

export const tripThatSticks = workflow({ name: "trip_that_sticks" }, async () => {
  const failed: string[] = [];
  for (const part of PARTS) {
    await undoes(part).catch((error: unknown) => {
      if (error instanceof TaskError) failed.push(`${part} ${error.failure.attempts}`);
    });
  }
  return failed;
});

const pays = task(
  {
    name: "pays",
    retry: { maxAttempts: 2, delay: 10 },
    rollback: async (cents: number, ctx) => {
      await did(ctx, `refund ${cents}`);
    },
  },
  async (cents: number, ctx) => {
    await did(ctx, `pay ${cents} ${ctx.attempt}`);
    if (cents > 100) throw new Error("limit");
    return cents;
  },
);

export const refunds = workflow({ name: "refunds" }, async () => {
  const first = await pays(50);
  const second = await pays(500).catch((error: Error) => error.message);
  return [first, second];
});

export const nestedTrips = workflow({ name: "nested_trips" }, async (trip: Trip) => {
  const leg = async (parts: readonly string[]) => {
    const booked: string[] = [];
    try {
      for (const part of parts) {
        await book([part, trip]);
        booked.push(part);
      }
    } catch (error) {
      for (const part of booked.reverse()) await takeBack([part, trip]);
      throw error;
    }
  };
  await leg(["train"]);
  try {
    await leg(["flight", "hotel"]);
  } catch {
    await takeBack(["train", trip]);
    return "home";
  }
  return "gone";
});

const booked = PARTS.map((part) => `book ${part}`);

export const sagas: Programs = {
  trip: {
    sees: "when everything can be booked nothing is taken back",
    isTouchy: true,
    input: {},
    output: ["flight booked", "hotel booked", "car booked"],
    did: booked,
  },
  "trip without car": {
    workflow: "trip",
    sees: "what was booked is taken back in the other order when the last part fails",
    input: { without: "car" },
    output: "no car",
    did: [...booked, "take back car 1", "take back hotel 1", "take back flight 1"],
  },
  "trip without hotel": {
    workflow: "trip",
    sees: "what was not reached is neither booked nor taken back",
    input: { without: "hotel" },
    output: "no hotel",
    did: ["book flight", "book hotel", "take back hotel 1", "take back flight 1"],
  },
  "trip with a sticky hotel": {
    workflow: "trip",
    sees: "taking back is tried again until it succeeds, and then goes on",
    input: { without: "car", sticky: "hotel" },
    output: "no car",
    did: [
      ...booked,
      ...["take back car 1", "take back hotel 1", "take back hotel 2", "take back hotel 3"],
      "take back flight 1",
    ],
  },
  trip_that_fails: {
    sees: "after everything was taken back the workflow fails with the first error",
    input: { without: "car" },
    failure: { message: "no car" },
    did: [...booked, "take back hotel 1", "take back flight 1"],
  },
  "trip_that_fails at once": {
    workflow: "trip_that_fails",
    sees: "when the first part fails there is nothing to take back",
    input: { without: "flight" },
    failure: { message: "no flight" },
    did: ["book flight"],
  },
  trip_at_once: {
    sees: "of parts that are booked at once those that succeeded are taken back",
    input: { without: "hotel" },
    output: "nothing",
    didInAnyOrder: [...booked, "take back flight 1", "take back car 1"],
  },
  trip_undone_asleep: {
    sees: "taking back may have to wait, and is done all the same",
    input: { without: "hotel" },
    output: "home",
    did: ["book flight", "book hotel", "take back flight 1"],
  },
  trip_refused: {
    sees: "somebody's no takes back what was booked",
    input: {},
    drive: async (outside) => {
      await outside.untilWaits("pause", "confirm");
      await outside.resume(false);
    },
    output: "home",
    did: ["book flight", "take back flight 1"],
  },
  trip_that_sticks: {
    sees: "what cannot be taken back does not keep the rest from being tried",
    output: ["flight 2", "hotel 2", "car 2"],
    did: PARTS.flatMap((part) => [`undo ${part} 1`, `undo ${part} 2`]),
  },
  refunds: {
    sees: "a task that declares how it is undone is undone when it has failed, and only then",
    output: [50, "limit"],
    did: ["pay 50 1", "pay 500 1", "pay 500 2", "refund 500"],
  },
  nested_trips: {
    sees: "a part that was undone by itself leads to undoing what went before",
    input: { without: "hotel" },
    output: "home",
    did: ["book train", "book flight", "book hotel", "take back flight 1", "take back train 1"],
  },
};
