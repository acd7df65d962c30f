/** The tasks of programs: one for each kind of options, all with the same function. */
import {
  pause,
  progress,
  signal,
  sleep,
  type Task,
  type TaskContext,
  TerminalError,
  task,
} from "@engine/sdk";
import type { Inside, LivelyStep, StepTask, Told } from "../program.ts";
import type { RunningBody } from "../program-port.ts";
import { digest } from "./digest.ts";
import { resultOf } from "./result-of.ts";
import { completing, passing } from "./slow-schema.ts";
import { copyOf, spoil } from "./spoil.ts";
import { dawdle, port } from "./surroundings.ts";
import { traced } from "./traced.ts";

/** `programSource` puts another number here, so that code can say which version it is of. */
const VERSION = 1;
const PROGRESS_MARK = "progress-that-is-never-stored";
const TERMINAL = 99;

export interface StepInput extends Omit<LivelyStep, "kind"> {
  readonly path: string;
  readonly told: Told;
  readonly trace?: string;
  readonly careful?: true;
}

interface InnerInput {
  readonly path: string;
  readonly takes_ms: number;
  readonly trace?: string;
  readonly careful?: true;
}

/** Of whichever of the two: what the watched part of a function needs. */
interface Body {
  readonly part: "run" | "rollback" | "fallback";
  readonly input: InnerInput & Pick<Partial<StepInput>, "told" | "dies">;
  readonly takes_ms: number;
  readonly deaf: boolean;
}

const unwatched: RunningBody = { wait: async () => {}, returned() {}, threw() {} };

/** A function of a task, watched: it takes its time and then gives what `result` gives. */
async function body<Result>(
  { part, input, takes_ms, deaf }: Body,
  { executionId, taskCallId, name, attempt, signal: abort }: TaskContext,
  result: (running: RunningBody) => Result | Promise<Result>,
): Promise<Result> {
  const { path, told = null, trace, careful, dies } = input;
  const call = {
    part,
    execution_id: executionId,
    task_call_id: taskCallId,
    task: name,
    path,
    attempt,
    version: VERSION,
    told: copyOf(told),
    input: digest(input),
  };
  const running =
    port()?.enter(call) ?? (trace === undefined ? unwatched : traced(trace, call, dies));
  spoil(input, careful);
  try {
    await running.wait(takes_ms, deaf ? undefined : abort);
    const value = await result(running);
    running.returned(value);
    return value;
  } catch (error) {
    running.threw(error);
    throw error;
  }
}

const inner = task(
  {
    name: "inner",
    rollback: (input: InnerInput, ctx) =>
      body({ part: "rollback", input, takes_ms: 1, deaf: true }, ctx, () => {}),
  },
  (input: InnerInput, ctx) => {
    const { path, takes_ms } = input;
    return body({ part: "run", input, takes_ms, deaf: false }, ctx, () => resultOf(path, "text"));
  },
);

function runStep(input: StepInput, ctx: TaskContext): Promise<unknown> {
  // The input itself is changed before anything else is done.
  const { path, takes_ms, deaf, nested, inside = [], fails, flavour } = copyOf(input);
  const { attempt } = ctx;
  const { progress: steps, trace, careful } = input;
  const bequest = { ...(trace !== undefined && { trace }), ...(careful && { careful }) };
  return body({ part: "run", input, takes_ms, deaf }, ctx, async (running) => {
    for (let i = 0; i < steps; i++) progress({ mark: PROGRESS_MARK, path, step: i });
    for (let i = 0; i < nested; i++) {
      await inner({ path: `${path}.a${attempt}.n${i}`, takes_ms: 2, ...bequest });
    }
    for (const [i, wait] of inside.entries()) {
      spoil(await waitFor(wait, `${path}.a${attempt}.w${i}`, running), careful);
    }
    if (fails >= TERMINAL)
      throw new TerminalError(`failed at ${path}`, { details: { at: [path] } });
    if (attempt <= fails) throw new Error(`failed at ${path}`);
    return resultOf(path, ctx.name === "kept" ? "text" : flavour);
  });
}

function waitFor(wait: Inside, name: string, running: RunningBody): Promise<unknown> {
  switch (wait.kind) {
    case "sleep":
      return sleep(wait.ms);
    case "timer":
      return running.wait(wait.ms, undefined);
    case "both":
      return Promise.all([sleep(wait.ms), running.wait(wait.ms / 2, undefined)]);
    case "signal":
      return signal(wait.name, wait.timeout_ms === null ? {} : { timeout: wait.timeout_ms });
    case "pause":
      return pause(name, wait.after_ms === null ? {} : { after: wait.after_ms });
  }
}

function undo(input: StepInput, ctx: TaskContext): Promise<void> {
  return body({ part: "rollback", input, takes_ms: 5, deaf: true }, ctx, () => {});
}

const plain = task({ name: "plain" }, runStep);
const retried = task(
  { name: "retried", retry: { maxAttempts: 3, delay: "200ms", backoff: 3 } },
  runStep,
);
/** Its second attempt comes so late that the execution is parked meanwhile. */
const patient = task({ name: "patient", retry: { maxAttempts: 2, delay: "30s" } }, runStep);
const undoable = task(
  { name: "undoable", retry: { maxAttempts: 2, delay: "100ms" }, rollback: undo },
  runStep,
);
const rescued = task(
  {
    name: "rescued",
    retry: { maxAttempts: 2, delay: "100ms" },
    rollback: undo,
    fallback: (input: StepInput, failure, ctx) => {
      const rescue = `rescue of ${input.path}`;
      spoil(failure.details, input.careful);
      return body({ part: "fallback", input, takes_ms: 1, deaf: true }, ctx, () => rescue);
    },
  },
  runStep,
);
const timed = task({ name: "timed", timeout: "500ms", rollback: undo }, runStep);
const brisk = task({ name: "brisk", retry: { maxAttempts: 2, delay: "103ms" } }, runStep);
const late = task({ name: "late", retry: { maxAttempts: 2, delay: "1010ms" } }, runStep);
const picky = task(
  {
    name: "picky",
    retry: {
      maxAttempts: 3,
      delay: "20ms",
      async retryIf(failure) {
        const isWorthIt = failure.attempts < 2;
        spoil(failure.details);
        await dawdle();
        return isWorthIt;
      },
    },
  },
  runStep,
);
const doubtful = task(
  {
    name: "doubtful",
    retry: {
      maxAttempts: 3,
      delay: "20ms",
      async retryIf() {
        await dawdle();
        throw new Error("it cannot say");
      },
    },
  },
  runStep,
);
const checked = task(
  {
    name: "checked",
    retry: { maxAttempts: 2, delay: "50ms" },
    input: completing<StepInput>("stamp"),
    output: passing(),
    rollback: undo,
  },
  runStep,
);
const cached = task(
  {
    name: "cached",
    retry: { maxAttempts: 2, delay: "20ms" },
    cache: {
      async key(input: StepInput) {
        // Nobody else's, and never found: that a function did not run would look like one that was lost.
        const key = [input.path, input.told.uuid, Math.random()];
        spoil(input, input.careful);
        await dawdle();
        return key;
      },
    },
  },
  runStep,
);
const secretive = task(
  { name: "secretive", sensitive: true, retry: { maxAttempts: 2, delay: "20ms" } },
  runStep,
);
const kept = task(
  {
    name: "kept",
    retry: { maxAttempts: 2, delay: "20ms" },
    outputStorage: {
      type: "drawer",
      async store(id, value) {
        await dawdle();
        return { storage_type: "drawer", reference_id: id, metadata: { value: value as string } };
      },
      async retrieve({ metadata }) {
        await dawdle();
        return metadata["value"];
      },
    },
  },
  runStep,
);

export const STEPS: Readonly<Record<StepTask, Task<StepInput, unknown>>> = {
  plain,
  retried,
  patient,
  undoable,
  rescued,
  timed,
  brisk,
  late,
  picky,
  doubtful,
  checked,
  cached,
  kept,
  secretive,
};
