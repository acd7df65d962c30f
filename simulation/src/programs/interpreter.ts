/**
 * The one workflow of a simulation: it runs the program that is its input. The server registers the
 * text of this file, so it imports nothing of this folder but types.
 */
import {
  call,
  graph,
  map,
  now,
  parallel,
  pause,
  pipeline,
  progress,
  random,
  signal,
  sleep,
  type TaskContext,
  TerminalError,
  task,
  uuid,
  type Workflow,
  type WorkflowContext,
  workflow,
} from "@engine/sdk";
import type { Flavour, Program, ProgramInput, Step, StepTask } from "./program.ts";
import type { ProgramPort, Sight } from "./program-port.ts";

/** `programSource` puts another number here, so that code can say which version it is of. */
const VERSION = 1;
const PROGRESS_MARK = "progress-that-is-never-stored";
const TERMINAL = 99;

type StepInput = Omit<Step, "kind"> & { readonly path: string };
type InnerInput = { readonly path: string; readonly takes_ms: number };

/** What a step gives, by its place and nothing else. */
export function resultOf(path: string, flavour: Flavour): unknown {
  switch (flavour) {
    case "null":
      return null;
    case "undefined":
      return undefined;
    case "text":
      return `result of ${path}`;
    case "date":
      return { path, at: new Date(86_400_000 * path.length) };
    case "map":
      return new Map<string, unknown>([
        ["path", path],
        ["set", new Set([path, 1])],
      ]);
    case "bigint":
      return [path, 2n ** 70n];
    case "nan":
      return [path, Number.NaN, -0, Number.POSITIVE_INFINITY];
    case "reserved":
      return { $rich: path, $stored: [path], toString: 1 };
    case "surrogate":
      return `${path}\ud800`;
    case "large":
      return { path, text: path.repeat(9_000) };
  }
}

function port(): ProgramPort | undefined {
  const key = Symbol.for("engine.simulation.program-port");
  return (globalThis as unknown as Record<symbol, ProgramPort | undefined>)[key];
}

interface Body {
  readonly part: "run" | "rollback" | "fallback";
  readonly path: string;
  readonly takes_ms: number;
  readonly deaf: boolean;
}

/** A function of a task, watched: it takes its time and then gives what `result` gives. */
async function body<Result>(
  { part, path, takes_ms, deaf }: Body,
  { executionId, taskCallId, name, attempt, signal: abort }: TaskContext,
  result: () => Result | Promise<Result>,
): Promise<Result> {
  const running = port()?.enter({
    part,
    execution_id: executionId,
    task_call_id: taskCallId,
    task: name,
    path,
    attempt,
    version: VERSION,
  });
  try {
    await running?.wait(takes_ms, deaf ? undefined : abort);
    const value = await result();
    running?.returned(value);
    return value;
  } catch (error) {
    running?.threw(error);
    throw error;
  }
}

const inner = task(
  {
    name: "inner",
    rollback: ({ path }: InnerInput, ctx) =>
      body({ part: "rollback", path, takes_ms: 1, deaf: true }, ctx, () => {}),
  },
  ({ path, takes_ms }: InnerInput, ctx) =>
    body({ part: "run", path, takes_ms, deaf: false }, ctx, () => resultOf(path, "text")),
);

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
    fallback: ({ path }: StepInput, _failure, ctx) =>
      body({ part: "fallback", path, takes_ms: 1, deaf: true }, ctx, () => `rescue of ${path}`),
  },
  runStep,
);
const timed = task({ name: "timed", timeout: "500ms", rollback: undo }, runStep);

const STEPS = { plain, retried, patient, undoable, rescued, timed } satisfies Record<
  StepTask,
  unknown
>;

function runStep(input: StepInput, ctx: TaskContext): Promise<unknown> {
  const { path, takes_ms, deaf, nested, fails, flavour } = input;
  return body({ part: "run", path, takes_ms, deaf }, ctx, async () => {
    for (let i = 0; i < input.progress; i++) progress({ mark: PROGRESS_MARK, path, step: i });
    for (let i = 0; i < nested; i++) {
      await inner({ path: `${path}.a${ctx.attempt}.n${i}`, takes_ms: 2 });
    }
    if (fails >= TERMINAL) throw new TerminalError(`failed at ${path}`);
    if (ctx.attempt <= fails) throw new Error(`failed at ${path}`);
    return resultOf(path, flavour);
  });
}

function undo({ path }: StepInput, ctx: TaskContext): Promise<void> {
  return body({ part: "rollback", path, takes_ms: 5, deaf: true }, ctx, () => {});
}

/** The message an author wrote, whatever calls it has come through. */
function rootMessage(error: unknown): string {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root instanceof Error ? root.message : String(root);
}

async function interpret(p: Program, path: string, id: string): Promise<unknown> {
  const at = (part: number | string) => `${path}.${part}`;
  const saw = <Value>(kind: Sight["kind"], value: Value): Value => {
    port()?.saw({ execution_id: id, path, kind, value });
    return value;
  };
  switch (p.kind) {
    case "step": {
      const { kind: _, ...input } = p;
      return saw("task", await STEPS[p.task]({ ...input, path }));
    }
    case "sleep":
      await sleep(p.ms);
      return ["slept", path];
    case "timer":
      await new Promise((resolve) => setTimeout(resolve, p.ms));
      return ["slept", path];
    case "pause": {
      const options = p.after_ms === null ? {} : { after: p.after_ms };
      const answer = saw("pause", await pause(path, { output: { path }, ...options }));
      return [answer === undefined ? "nobody answered" : "answered", path];
    }
    case "signal": {
      const options = p.timeout_ms === null ? {} : { timeout: p.timeout_ms };
      const payload = saw("signal", await signal(p.name, options));
      return [payload === undefined ? "no signal" : "signal", path];
    }
    case "child":
      return saw("child", await call(program, { program: p.part, path: at("c") }));
    case "spawn": {
      const input = { program: p.part, path: at("c") };
      saw("child", await call(program, input, { wait: false, detach: p.detach }));
      return ["spawned", path];
    }
    case "recorded":
      saw("recorded", [await now(), await random(), await random(1, 6), await uuid()]);
      return ["recorded", path];
    case "globals":
      saw("recorded", [Math.random(), crypto.randomUUID(), Date.now()]);
      return ["recorded", path];
    case "sequence": {
      const results = [];
      for (const [i, part] of p.parts.entries()) results.push(await interpret(part, at(i), id));
      return results;
    }
    case "parallel":
      return parallel(p.parts.map((part, i) => () => interpret(part, at(i), id)));
    case "settled": {
      const settled = await parallel(
        p.parts.map((part, i) => () => interpret(part, at(i), id)),
        { settle: true },
      );
      return settled.map((one) => (one.status === "fulfilled" ? ["ok", one.value] : ["failed"]));
    }
    case "all":
      return Promise.all(p.parts.map((part, i) => interpret(part, at(i), id)));
    case "race":
      return Promise.race(p.parts.map((part, i) => interpret(part, at(i), id)));
    case "pipeline":
      return pipeline(0, ...p.parts.map((part, i) => () => interpret(part, at(i), id)));
    case "graph": {
      // The first node is before all others, the last one behind them.
      const names = p.parts.map((_, i) => `n${i}`);
      const nodes = p.parts.map((part, i) => ({
        after: i === 0 ? [] : ["n0"],
        run: () => interpret(part, at(i), id),
      }));
      const end = { after: names, run: () => "end" };
      const all = Object.fromEntries([...nodes.map((node, i) => [`n${i}`, node]), ["end", end]]);
      const outputs: Record<string, unknown> = await graph("random", all)(null);
      return names.map((name) => outputs[name]);
    }
    case "map":
      return map(Array.from({ length: p.times }).keys(), (i) => interpret(p.part, at(i), id), {
        concurrency: p.concurrency,
      });
    case "attempt":
      try {
        return ["done", await interpret(p.part, at(0), id)];
      } catch (error) {
        return ["caught", rootMessage(error)];
      }
    case "finally":
      try {
        return await interpret(p.part, at(0), id);
      } finally {
        await plain({ ...CLEANUP, path: at("f") });
      }
    case "forgotten":
      interpret(p.part, at(0), id).catch(() => {});
      return ["forgotten", path];
  }
}

const CLEANUP = {
  task: "plain",
  fails: 0,
  takes_ms: 1,
  nested: 0,
  progress: 0,
  flavour: "text",
  deaf: false,
} as const;

async function run(
  { program: of, path }: ProgramInput,
  { executionId }: WorkflowContext,
): Promise<unknown> {
  const value = await interpret(of, path, executionId);
  port()?.saw({ execution_id: executionId, path: "output", kind: "output", value });
  return value;
}

/** Runs any program. */
export const program: Workflow<ProgramInput, unknown> = workflow({ name: "program" }, run);
/** The same, and fails when it takes longer than 20 s. */
export const limitedProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "limited_program", timeout: "20s" },
  run,
);
/** The same, on workers with two cores to spare. */
export const heavyProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "heavy_program", requests: { cpu: 2 } },
  run,
);
