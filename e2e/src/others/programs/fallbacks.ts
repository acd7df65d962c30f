import { TaskError, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";

const QUICK = { maxAttempts: 2, delay: 20 } as const;

const withFallback = task(
  {
    name: "with_fallback",
    retry: QUICK,
    fallback: async (input: number, failure, ctx) => {
      await did(ctx, `instead of ${input}: ${failure.message}`);
      return -input;
    },
  },
  async (input: number, ctx) => {
    await did(ctx, `try ${input}`);
    if (input > 1) throw new Error(`${input} is too many`);
    return input;
  },
);

export const secondBest = workflow({ name: "second_best" }, async () => [
  await withFallback(1),
  await withFallback(2),
]);

const undone = task(
  {
    name: "undone",
    retry: QUICK,
    rollback: async (input: string, ctx) => {
      await did(ctx, `undo ${input}: ${ctx.failure?.message}`);
    },
    fallback: async (input: string, failure, ctx) => {
      await did(ctx, `instead of ${input}`);
      return `without ${input}: ${failure.attempts}`;
    },
  },
  async (input: string, ctx) => {
    await did(ctx, `try ${input}`);
    throw new Error("no room");
  },
);

export const undoneFirst = workflow({ name: "undone_first" }, () => undone("a room"));

const worse = task(
  {
    name: "worse",
    fallback: () => {
      throw new RangeError("nor this");
    },
  },
  async (_: unknown, ctx) => {
    await did(ctx, "try");
    throw new Error("not this");
  },
);

export const neitherNor = workflow({ name: "neither_nor" }, async () => {
  try {
    return await worse(null);
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    return [error.failure.type, error.failure.cause?.message];
  }
});

const stuck = task(
  {
    name: "stuck",
    rollback: () => {
      throw new Error("cannot be undone");
    },
    fallback: async (_: unknown, _failure, ctx) => {
      await did(ctx, "must not be");
      return "must not be";
    },
  },
  async (_: unknown, ctx): Promise<string> => {
    await did(ctx, "try");
    throw new Error("went wrong");
  },
);

export const cannotBeUndone = workflow({ name: "cannot_be_undone" }, async () => {
  try {
    return await stuck(null);
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    const { message, details } = error.failure;
    return [message, "rollback" in (details ?? {})];
  }
});

export const fallbacks: Programs = {
  second_best: {
    sees: "a task that has failed for good gives what its fallback gives, which is told input and error",
    output: [1, -2],
    did: ["try 1", "try 2", "try 2", "instead of 2: 2 is too many"],
  },
  undone_first: {
    sees: "what failed attempts have done is undone before the fallback takes their place",
    output: "without a room: 2",
    did: ["try a room", "try a room", "undo a room: no room", "instead of a room"],
  },
  neither_nor: {
    sees: "a fallback that throws fails the call with its own error, the first one being the cause",
    output: ["RangeError", "not this"],
    did: ["try"],
  },
  cannot_be_undone: {
    sees: "when undoing fails there is no fallback, and the error of the work tells of the undoing",
    output: ["went wrong", true],
    did: ["try"],
  },
};
