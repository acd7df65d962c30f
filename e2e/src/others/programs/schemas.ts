import { type StandardSchema, sleep, type TaskError, task, workflow } from "@engine/sdk";
import * as z from "zod";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";
import { echo, told } from "./tasks.ts";

export const fillsIn = workflow(
  {
    name: "fills_in",
    input: z.object({ size: z.int().default(3), tags: z.array(z.string()).default([]) }),
  },
  async (order) => {
    await echo(order.size);
    return order;
  },
);

export const fillsInAnId = workflow(
  {
    name: "fills_in_an_id",
    input: z.object({ id: z.string().default(() => crypto.randomUUID()) }),
  },
  async ({ id }) => {
    const first = await echo(id);
    await sleep(30);
    const second = await echo(id);
    await sleep(30);
    return first === id && second === id;
  },
);

export const fillsInTheTime = workflow(
  {
    name: "fills_in_the_time",
    input: z.object({
      at: z.number().default(() => Date.now()),
      luck: z.number().default(() => Math.random()),
    }),
  },
  async ({ at, luck }) => {
    await echo([at, luck]);
    await sleep(30);
    await echo([at, luck]);
    return [typeof at, luck < 1];
  },
);

export const makesDates = workflow(
  {
    name: "makes_dates",
    input: z.object({ day: z.iso.date().transform((text) => new Date(`${text}T00:00:00Z`)) }),
  },
  async ({ day }) => {
    await sleep(20);
    const same = await echo(day);
    return [day instanceof Date, same instanceof Date, same.getTime() === day.getTime()];
  },
);

const priced = task(
  {
    name: "priced",
    input: z.object({
      cents: z.number().transform((cents) => cents + (Math.random() < 2 ? 1 : 0)),
    }),
    output: z.object({ total: z.number(), id: z.string().default(() => crypto.randomUUID()) }),
  },
  async ({ cents }, ctx) => {
    await did(ctx, `priced ${cents}`);
    return { total: cents * 2 } as { total: number; id: string };
  },
);

export const schemaOfATask = workflow({ name: "schema_of_a_task" }, async () => {
  const before = Math.random();
  const first = await priced({ cents: 10 });
  const between = Math.random();
  await sleep(20);
  const second = await priced({ cents: 20 });
  await echo([before, between, first.id, second.id]);
  await sleep(20);
  await echo([before, between, first.id, second.id]);
  return [first.total, second.total, first.id !== second.id];
});

const checked = task(
  { name: "checked", input: z.object({ count: z.int().min(1) }), output: z.string().max(3) },
  async ({ count }, ctx) => {
    await did(ctx, `checked ${count}`);
    return "x".repeat(count);
  },
);

export const refusedBySchemas = workflow({ name: "refused_by_schemas" }, async () => {
  const tell = (error: TaskError) => error.failure.type;
  return [
    await checked({ count: 0 }).catch(tell),
    await checked({ count: 3 }),
    await checked({ count: 4 }).catch(tell),
  ];
});

/** A schema of no library that asks somebody else before it answers. */
const asking: StandardSchema<unknown, { readonly asked: unknown }> = {
  "~standard": {
    version: 1,
    vendor: "own",
    validate: async (value) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return { value: { asked: value } };
    },
  },
};

const asked = task({ name: "asked", input: asking }, async (input, ctx) => {
  await did(ctx, `asked ${told(input)}`);
  return input;
});

export const schemaWithATimer = workflow({ name: "schema_with_a_timer" }, async () => {
  const first = await asked(1);
  await sleep(20);
  const second = await asked(2);
  return [first, second];
});

export const inputWithATimer = workflow(
  { name: "input_with_a_timer", input: asking },
  async (input) => {
    await sleep(20);
    return echo(input);
  },
);

export const outputWithATimer = workflow(
  { name: "output_with_a_timer", output: asking },
  async (): Promise<unknown> => {
    await sleep(20);
    return echo("out");
  },
);

export const wrongOutput = workflow({ name: "wrong_output", output: z.number() }, async () => {
  return (await echo("no number")) as never;
});

const drawing = task(
  {
    name: "drawing",
    retry: { maxAttempts: 3, delay: 10, retryIf: () => Math.random() < 2 },
  },
  async (_: unknown, ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    if (ctx.attempt < 3) throw new Error("again");
    return ctx.attempt;
  },
);

export const conditionThatDraws = workflow({ name: "condition_that_draws" }, async () => {
  const numbers = [Math.random()];
  await drawing(null);
  numbers.push(Math.random());
  await sleep(20);
  await echo(numbers.join());
  await sleep(20);
  numbers.push(Math.random());
  await echo(numbers.slice(0, 2).join());
  return new Set(numbers).size;
});

const kept = task(
  { name: "kept", cache: { key: (input: string) => [input, Math.random() < 2], ttl: "1h" } },
  async (input: string, ctx) => {
    await did(ctx, "kept");
    return input.length;
  },
);

export const keyThatDraws = workflow({ name: "key_that_draws" }, async (_, ctx) => {
  const numbers = [Math.random()];
  // Of this execution alone, whatever others keep.
  const length = await kept(ctx.executionId);
  numbers.push(Math.random());
  await sleep(20);
  await echo(numbers.join());
  await sleep(20);
  await echo(numbers.join());
  return [length === ctx.executionId.length, await kept(ctx.executionId)].length;
});

export const schemas: Programs = {
  fills_in: {
    sees: "what a schema fills in is there for the workflow",
    input: { tags: ["a"] },
    output: { size: 3, tags: ["a"] },
    did: ["echo 3"],
  },
  fills_in_an_id: {
    sees: "an id that a schema draws is drawn once",
    isTouchy: true,
    input: {},
    right: ({ output, did }) => output === true && did.length === 2 && did[0] === did[1],
  },
  fills_in_the_time: {
    sees: "a time and a number that a schema fills in stay what they were",
    isTouchy: true,
    input: {},
    right: ({ output, did }) =>
      `${output}` === "number,true" && did.length === 2 && did[0] === did[1],
  },
  makes_dates: {
    sees: "a text that a schema makes a date of is a date for the workflow and its tasks",
    input: { day: "2026-02-28" },
    output: [true, true, true],
  },
  schema_of_a_task: {
    sees: "schemas of tasks that draw do not move what the workflow draws",
    right: ({ output, did }) =>
      `${output}` === "22,42,true" && did.length === 4 && did[2] === did[3],
  },
  refused_by_schemas: {
    sees: "what a task's schemas refuse is caught, and the task does not run for a wrong input",
    output: ["InvalidInputError", "xxx", "InvalidOutputError"],
    did: ["checked 3", "checked 4"],
  },
  schema_with_a_timer: {
    sees: "a task's schema may ask somebody and wait for the answer",
    output: [{ asked: 1 }, { asked: 2 }],
    did: ['asked {"asked":1}', 'asked {"asked":2}'],
  },
  input_with_a_timer: {
    sees: "a workflow's schema may ask somebody and wait for the answer",
    input: 5,
    output: { asked: 5 },
    did: ['echo {"asked":5}'],
  },
  output_with_a_timer: {
    sees: "the schema of an output may ask somebody and wait for the answer",
    output: { asked: "out" },
    did: ["echo out"],
  },
  wrong_output: {
    sees: "an output that its schema refuses fails the workflow",
    failure: { type: "InvalidOutputError" },
    did: ["echo no number"],
  },
  condition_that_draws: {
    sees: "a condition for another attempt that draws does not move what the workflow draws",
    right: ({ output, did }) => output === 3 && did.length === 5 && did[3] === did[4],
  },
  key_that_draws: {
    sees: "a key of kept results that draws does not move what the workflow draws",
    right: ({ output, did }) => output === 2 && did.filter((note) => note === "kept").length >= 1,
  },
};
