import { decode, encode } from "@engine/contract";
import type { TaskContext } from "../options.ts";
import type { TaskDefinition } from "../replay/calls/call.ts";
import type { Task } from "../task.ts";

/** The function of a task that really ran. */
export interface TaskRun {
  readonly executionId: string;
  readonly taskCallId: string;
  readonly name: string;
  /** From 1. */
  readonly attempt: number;
  readonly input: unknown;
}

type TaskFunction = TaskDefinition["fn"];
/** Runs a function of the user's while somebody counts it as running. */
export type Running = (ctx: TaskContext, run: () => unknown) => unknown;

interface Mock {
  readonly name: string;
  readonly of: unknown;
  readonly fn: TaskFunction;
}

/** Which function runs for a task, and what has run so far. */
export class StandIns {
  readonly runs: TaskRun[] = [];
  #mocks: readonly Mock[] = [];

  /** @returns What takes the replacement away again. */
  mock(task: unknown, fn: unknown): () => void {
    if (!isTask(task)) {
      throw new TypeError(
        `mock() takes a task made by task(), the object that the workflow calls; got ${typeof task === "function" ? `the function ${task.name || "without a name"}` : typeof task}`,
      );
    }
    if (typeof fn !== "function") {
      throw new TypeError(
        `mock() of task ${task.name} takes the function to run instead, (input, ctx) => output; got ${fn === null ? "null" : typeof fn}`,
      );
    }
    const mock: Mock = { name: task.name, of: task.fn, fn: fn as TaskFunction };
    this.#mocks = [...this.#mocks, mock];
    return () => {
      this.#mocks = this.#mocks.filter((other) => other !== mock);
    };
  }

  /** The task as the engine runs it. */
  definition(task: TaskDefinition, running: Running): TaskDefinition {
    const { name, fn, options } = task;
    const { fallback, rollback } = options;
    const standIn: TaskFunction = (input, ctx) => {
      const { executionId, taskCallId, attempt } = ctx;
      this.runs.push({ executionId, taskCallId, name, attempt, input: copied(input) });
      const mock = this.#mocks.findLast((one) => one.of === fn && one.name === name);
      return running(ctx, () => (mock?.fn ?? fn)(input, ctx));
    };
    // Two tasks of one name are told apart by the text of their functions.
    standIn.toString = () => fn.toString();
    return {
      name,
      fn: standIn,
      options: {
        ...options,
        ...(fallback && {
          fallback: (input: unknown, failure, ctx) =>
            running(ctx, () => fallback(input, failure, ctx)),
        }),
        ...(rollback && {
          rollback: async (input: unknown, ctx) => {
            await running(ctx, () => rollback(input, ctx));
          },
        }),
      },
    };
  }
}

/** As it was before the function changed it, unless a schema made of it what has no stored form. */
function copied(input: unknown): unknown {
  try {
    return decode(encode(input, "input"));
  } catch {
    return input;
  }
}

function isTask(value: unknown): value is Task<unknown, unknown> {
  return typeof value === "function" && "fn" in value && "with" in value && "options" in value;
}
