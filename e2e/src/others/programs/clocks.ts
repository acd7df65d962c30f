import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { now, random, sleep, uuid, workflow } from "@engine/sdk";
import type { Programs } from "../program.ts";
import { echo } from "./tasks.ts";

// As people write it, once for the file.
const pausing = promisify(setTimeout);
const { random: draw, floor } = Math;
const { now: clock } = Date;

export const clockOnTheFirstLine = workflow({ name: "clock_on_the_first_line" }, async () => {
  const began = Date.now();
  const told = await echo(began);
  await sleep(30);
  const again = await echo(began);
  return [told === began, again === began];
});

export const clockOfEveryLine = workflow({ name: "clock_of_every_line" }, async () => {
  const times: number[] = [Date.now()];
  for (let i = 0; i < 5; i++) {
    await echo(times.at(-1));
    times.push(Date.now());
    await sleep(15);
    const later = new Date();
    times.push(later.getTime());
  }
  await echo(times.join());
  return times.every((time, i) => i === 0 || time >= (times[i - 1] ?? 0));
});

export const dateAsText = workflow({ name: "date_as_text" }, async () => {
  const day = new Date().toISOString();
  const text = await echo(new Intl.DateTimeFormat("en", { timeStyle: "medium" }).format());
  await sleep(1_100);
  const later = new Intl.DateTimeFormat("en", { timeStyle: "medium" }).format(new Date(day));
  return [await echo(day), text].length === 2 && later === text;
});

export const measures = workflow({ name: "measures" }, async () => {
  const before = Date.now();
  await sleep(120);
  const took = Date.now() - before;
  await echo(took);
  return took >= 120 && took < 60_000;
});

export const drawsNumbers = workflow({ name: "draws_numbers" }, async () => {
  const numbers: number[] = [];
  for (let i = 0; i < 4; i++) {
    numbers.push(Math.random());
    await echo(numbers.at(-1));
    await sleep(10);
  }
  await echo(numbers.join());
  return new Set(numbers).size === 4 && numbers.every((one) => one >= 0 && one < 1);
});

export const drawsIds = workflow({ name: "draws_ids" }, async () => {
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    ids.push(crypto.randomUUID());
    await echo(ids.at(-1));
    await sleep(10);
  }
  await echo(ids.join());
  return new Set(ids).size;
});

export const drawsIdsOfNode = workflow({ name: "draws_ids_of_node" }, async () => {
  const id = randomUUID();
  await echo(id);
  await sleep(20);
  return (await echo(id)) === id;
});

export const asksForThem = workflow({ name: "asks_for_them" }, async () => {
  const id = await uuid();
  const number = await random();
  const whole = await random(1, 6);
  const time = await now();
  await echo([id, number, whole, time.getTime()]);
  await sleep(20);
  await echo([id, number, whole, time.getTime()]);
  const isId = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id);
  return [isId, number >= 0 && number < 1, whole >= 1 && whole <= 6, time instanceof Date];
});

export const decidesByChance = workflow({ name: "decides_by_chance" }, async () => {
  const path: string[] = [];
  for (let i = 0; i < 8; i++) {
    const isLeft = Math.random() < 0.5;
    path.push(await echo(isLeft ? "left" : "right"));
    if (!isLeft) await sleep(10);
  }
  await echo(path.join());
  return path.length;
});

export const shuffles = workflow({ name: "shuffles" }, async () => {
  const cards = [1, 2, 3, 4, 5, 6, 7, 8];
  for (let i = cards.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [cards[i], cards[j]] = [cards[j] as number, cards[i] as number];
  }
  for (const card of cards) await echo(card);
  await sleep(20);
  await echo(cards.join());
  return cards.toSorted();
});

export const drawsAtOnce = workflow({ name: "draws_at_once" }, async () => {
  const branch = async (name: string) => {
    const first = Math.random();
    await echo(`${name} ${first}`);
    const second = Math.random();
    await echo(`${name} ${second}`);
    return [first, second];
  };
  const all = (await Promise.all([branch("a"), branch("b"), branch("c")])).flat();
  await sleep(20);
  await echo(all.join());
  return new Set(all).size;
});

export const takenAtTheTop = workflow({ name: "taken_at_the_top" }, async () => {
  const began = clock();
  const number = floor(draw() * 1e9);
  await echo([began, number]);
  await pausing(30);
  await echo([began, number]);
  return clock() >= began;
});

export const decidesByTheClock = workflow({ name: "decides_by_the_clock" }, async () => {
  const path: string[] = [];
  for (let i = 0; i < 6; i++) {
    path.push(await echo(Date.now() % 2 === 0 ? "even" : "odd"));
    await sleep(3);
  }
  await echo(path.join());
  return path.length;
});

/** Whether the last thing that was told is what was told one by one. */
const isWhatWasTold = (did: readonly string[]): boolean => {
  const told = did.slice(0, -1).map((note) => note.replace("echo ", ""));
  return did.at(-1) === `echo ${told.join()}`;
};

export const clocks: Programs = {
  clock_on_the_first_line: {
    sees: "the time that was read first is the same for all that is told of it",
    isTouchy: true,
    right: ({ output, did }) =>
      `${output}` === "true,true" && did.length === 2 && did[0] === did[1],
  },
  clock_of_every_line: {
    sees: "the clock never runs backwards, and nobody is told another time than before",
    isTouchy: true,
    right: ({ output, did }) => output === true && did.length === 6,
  },
  date_as_text: {
    sees: "a time of day written as text is that of the workflow's own clock",
    isTouchy: true,
    right: ({ output, did }) => output === true && did.length === 2,
  },
  measures: {
    sees: "what a workflow measures by its own clock is at least what has passed",
    output: true,
  },
  draws_numbers: {
    sees: "random numbers differ from each other, and each stays what it was",
    isTouchy: true,
    right: ({ output, did }) => output === true && isWhatWasTold(did),
  },
  draws_ids: {
    sees: "random ids differ from each other, and each stays what it was",
    isTouchy: true,
    right: ({ output, did }) => output === 3 && isWhatWasTold(did),
  },
  draws_ids_of_node: {
    sees: "an id of the platform's own module stays what it was",
    right: ({ output, did }) => output === true && did.length === 2 && did[0] === did[1],
  },
  asks_for_them: {
    sees: "an id, numbers and the time that are asked for stay what they were",
    isTouchy: true,
    right: ({ output, did }) =>
      `${output}` === "true,true,true,true" && did.length === 2 && did[0] === did[1],
  },
  decides_by_chance: {
    sees: "a path that was taken by chance is never taken another way",
    right: ({ output, did }) => output === 8 && isWhatWasTold(did),
  },
  shuffles: {
    sees: "cards that were shuffled stay in their order",
    right: ({ output, did }) => `${output}` === "1,2,3,4,5,6,7,8" && isWhatWasTold(did),
  },
  draws_at_once: {
    sees: "branches that draw at once get numbers of their own, and keep them",
    right: ({ output, did }) => output === 6 && did.length === 7,
  },
  taken_at_the_top: {
    sees: "timers, chance and clock that a file takes at its top are the workflow's as well",
    isTouchy: true,
    right: ({ output, did }) => output === true && did.length === 2 && did[0] === did[1],
  },
  decides_by_the_clock: {
    sees: "a path that the clock decided is never taken another way",
    isTouchy: true,
    right: ({ output, did }) => output === 6 && isWhatWasTold(did),
  },
};
