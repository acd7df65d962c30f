/** Signals that are sent around the instant at which the wait for them ends. */
import type { ExecutionRecord } from "@engine/contract";
import { parallel, pause, signal, sleep, workflow } from "@engine/sdk";
import type { Outside } from "../outside.ts";
import type { End, Program, Programs } from "../program.ts";
import { echo, late } from "./tasks.ts";

export const inTimeOrNot = workflow({ name: "in_time_or_not" }, async () => {
  const first = await signal<string>("ping", { timeout: 400 });
  if (first !== undefined) return ["in time", await echo(first)];
  await echo("nothing");
  return ["late", await signal<string>("ping", { timeout: "1h" })];
});

export const inTimeOrNotParked = workflow({ name: "in_time_or_not_parked" }, async () => {
  const first = await signal<string>("ping", { timeout: "1100ms" });
  if (first !== undefined) return ["in time", first];
  return ["late", await signal<string>("ping", { timeout: "1h" })];
});

export const inTimeBesideWork = workflow({ name: "in_time_beside_work" }, async () => {
  const [outcome] = await parallel([
    async () => {
      const first = await signal<string>("ping", { timeout: 300 });
      if (first !== undefined) return ["in time", first];
      return ["late", await signal<string>("ping", { timeout: "1h" })];
    },
    () => late({ ms: 600, value: "work" }),
  ]);
  return outcome;
});

export const raceOfBoth = workflow({ name: "race_of_both" }, async () => {
  const ping = signal<string>("ping");
  const winner = await Promise.race([ping, sleep(1_100).then(() => "sleep")]);
  await echo(winner);
  return [winner === "sleep" ? "late" : "in time", await ping];
});

export const pauseOrNot = workflow({ name: "pause_or_not" }, async () => {
  const answer = await pause<string>("ask", { after: 500 });
  if (answer !== undefined) return ["in time", answer];
  return ["late", await pause<string>("ask_again")];
});

export const queueOfWork = workflow(
  { name: "queue_of_work" },
  async (input: { readonly items: string[] }) => {
    const done: string[] = [];
    let item = input.items.shift();
    while (item !== undefined) {
      done.push(await echo(item));
      item = input.items.shift();
    }
    return done;
  },
);

const LETTERS = ["a", "b", "c", "d", "e", "f"];

/** A wait that ends later than that is not the one around whose end something is to happen. */
const SOON_MS = 5_000;

/** Passes the time until so long after the end of its next wait, if it has one that ends soon. */
async function around(outside: Outside, offset: number): Promise<void> {
  const { body } = await outside.ask("GET", `/executions/${outside.id}`);
  const ends = (body as ExecutionRecord).waiting.map(({ until }) => Date.parse(until ?? ""));
  const end = Math.min(...ends.filter((at) => at < Date.now() + SOON_MS));
  if (Number.isFinite(end)) await outside.untilInstant(end + offset);
}

/** Either end gave what was sent. */
const isOnce: (end: End) => boolean = ({ output }) => Array.isArray(output) && output[1] === "once";

/** The signal is sent once, so many milliseconds after the wait is over. */
function swept(workflow: string, offsets: readonly number[]): Programs {
  const programs = offsets.map((offset): [string, Program] => [
    `${workflow} ${offset}`,
    {
      workflow,
      sees: `a signal sent ${offset} ms after the end of a wait is taken once, in time or later`,
      isCalm: true,
      drive: async (outside) => {
        await outside.untilWaits("signal");
        await around(outside, offset);
        await outside.signal("ping", "once");
      },
      right: isOnce,
    },
  ]);
  return Object.fromEntries(programs);
}

const pauses = [-40, -20, -12, -8, -5, -3, -1, 0, 1, 3, 5, 10, 30].map(
  (offset): [string, Program] => [
    `pause_or_not ${offset}`,
    {
      workflow: "pause_or_not",
      sees: `an answer given ${offset} ms after the end of a pause is taken once, or refused`,
      isCalm: true,
      drive: async (outside) => {
        await outside.untilWaits("pause");
        await around(outside, offset);
        if ((await outside.resume("once", "ask")) < 300) return;
        await outside.untilWaits("pause", "ask_again");
        await outside.resume("once");
      },
      right: isOnce,
    },
  ],
);

const queues = Array.from({ length: 24 }, (_, i): [string, Program] => [
  `queue_of_work ${i}`,
  {
    workflow: "queue_of_work",
    sees: `a loop that takes its work off its input loses none when a signal arrives after ${3 * i} ms`,
    input: { items: LETTERS },
    ...(i % 6 > 0 && { isCalm: true as const }),
    drive: async (outside) => {
      await outside.untilInstant(Date.now() + 3 * i);
      await outside.signal("whatever", i);
    },
    output: LETTERS,
    did: LETTERS.map((letter) => `echo ${letter}`),
  },
]);

const OFFSETS = [
  -60, -30, -20, -15, -12, -10, -8, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 5, 8, 15, 40,
];

export const signalInstants: Programs = {
  ...swept("in_time_or_not", OFFSETS),
  ...swept("in_time_or_not_parked", OFFSETS),
  ...swept("in_time_beside_work", OFFSETS),
  ...swept("race_of_both", [-20, -10, -5, -2, 0, 2, 5, 20]),
  ...Object.fromEntries(pauses),
  ...Object.fromEntries(queues),
};
