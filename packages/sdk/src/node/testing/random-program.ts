/** Random concurrent programs, for properties that must hold of every workflow. */
import fc from "fast-check";
import {
  type AnyWorkflow,
  call,
  graph,
  map,
  parallel,
  pause,
  pipeline,
  random,
  type StandardSchema,
  signal,
  sleep,
  type Task,
  type TaskContext,
  task,
  uuid,
  workflow,
} from "../../index.ts";
import type { Host } from "../../replay/port.ts";
import { nodeHost } from "../host.ts";

export type Leaf = "value" | "pause" | "sleep" | "signal" | "child" | "globals" | "timer" | "item";
export type Program =
  | { kind: "step"; fails: boolean; nested: number; attempts: number; rollback: boolean }
  | { kind: Leaf }
  | { kind: "sequence" | "parallel" | "settled" | "all" | "race" | "pipeline"; parts: Program[] }
  | { kind: "diamond"; parts: Program[] }
  | { kind: "map"; part: Program; times: number; concurrency: number }
  | { kind: "attempt" | "forgotten"; part: Program };

const COMPOUND = ["sequence", "parallel", "settled", "all", "race", "pipeline"] as const;

/**
 * @param leaves Which calls may occur beside tasks. Values are taken at once, so nothing can hold
 *   them to a recorded order.
 */
export function programs(...leaves: readonly Leaf[]): fc.Arbitrary<Program> {
  return fc.letrec<{ program: Program }>((tie) => {
    const part = tie("program");
    const parts = fc.array(part, { minLength: 1, maxLength: 3 });
    const step = fc.record({
      kind: fc.constant("step" as const),
      fails: fc.boolean(),
      nested: fc.integer({ min: 0, max: 2 }),
      attempts: fc.constantFrom(1, 1, 2),
      rollback: fc.boolean(),
    });
    return {
      program: fc.oneof(
        { maxDepth: 3, depthSize: "small", withCrossShrink: true },
        step,
        fc.record({ kind: fc.constantFrom(...leaves) }),
        fc.record({ kind: fc.constantFrom(...COMPOUND), parts }),
        fc.record({ kind: fc.constant("diamond" as const), parts }),
        fc.record({
          kind: fc.constant("map" as const),
          part,
          times: fc.integer({ min: 0, max: 3 }),
          concurrency: fc.integer({ min: 1, max: 3 }),
        }),
        fc.record({ kind: fc.constantFrom("attempt" as const, "forgotten" as const), part }),
      ),
    };
  }).program;
}

export const GRACE_MS = 50;
/** Where virtual time begins; sleeps end far behind it. */
const START = 1_700_000_000_000;
const FAR = START + 1_000_000_000;

/** Decides when running task bodies end, when graces are over, and what time it is. */
export class Scheduler {
  /** Server and worker go by one clock, which only moves when a driver says so. */
  now: number = START;
  readonly pending: Map<string, () => void> = new Map();
  readonly timers: Set<() => void> = new Set();
  readonly ran: string[] = [];
  readonly undone: string[] = [];
  readonly errors: string[] = [];
  readonly host: Host = {
    ...nodeHost({
      log: (level, message, details) => {
        if (level === "error") this.errors.push(`${message} ${JSON.stringify(details)}`);
      },
    }),
    now: () => this.now,
    random: () => 0.5,
    uuid: () => "00000000-0000-4000-8000-000000000000",
    setTimer: (then, ms) => {
      // Only the grace of siblings is under control; starts that linger go at once, and what waits
      // for a time waits until the time has come.
      if (ms !== GRACE_MS) return this.#later(then, this.now + ms);
      this.timers.add(then);
      return () => this.timers.delete(then);
    },
  };

  body(id: string): Promise<void> {
    this.ran.push(id);
    return new Promise((resolve) => this.pending.set(id, resolve));
  }

  finish(id: string): boolean {
    const resolve = this.pending.get(id);
    this.pending.delete(id);
    resolve?.();
    return resolve !== undefined;
  }

  fireTimers(): boolean {
    const due = [...this.timers];
    this.timers.clear();
    for (const then of due) then();
    return due.length > 0;
  }

  #later(then: () => void, at: number): () => void {
    let isCancelled = false;
    const look = () => {
      if (isCancelled) return;
      // Starts that linger for company have waited long enough after a turn.
      if (this.now >= at || at - this.now <= LINGER_MS) then();
      else setImmediate(look);
    };
    setImmediate(look);
    return () => {
      isCancelled = true;
    };
  }
}

const LINGER_MS = 5;

/** What every program is given; its code takes the items off the list. */
export const INPUT: { readonly items: readonly number[] } = { items: [1, 2, 3] };

/** Chance and the clock, looked at where an author's function runs beside the body. */
function draw(): boolean {
  return Math.random() + Date.now() > 0 && crypto.randomUUID().length > 0;
}

const drawing: StandardSchema<unknown, never> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => ({ value: { ...(value as object), drawn: crypto.randomUUID() } as never }),
  },
};

export interface InterpreterOptions {
  /** Calls made in task bodies wait too, so that a crash may catch them open. */
  readonly nestedWait?: boolean;
  /** Bodies of tasks wait for signals and for their time, so that they run again to where they wait. */
  readonly waitsInTasks?: boolean;
}

export interface Interpreted {
  readonly workflow: AnyWorkflow;
  readonly child: AnyWorkflow;
}

/**
 * The workflow that interprets a program; `gate` is where its task bodies wait.
 */
export function interpreter(
  program: Program,
  gate: () => Scheduler,
  { nestedWait = false, waitsInTasks = false }: InterpreterOptions = {},
): Interpreted {
  const rollback = (_: unknown, { taskCallId }: { taskCallId: string }) =>
    void gate().undone.push(taskCallId);
  const inner = task({ name: "inner", rollback }, async (n: number, { taskCallId }) => {
    if (nestedWait) await gate().body(taskCallId);
    return n;
  });
  const run = async (input: StepInput, { taskCallId, attempt, name }: TaskContext) => {
    const { fails, nested } = input;
    // The next attempt has its own.
    input.fails = !fails;
    for (let i = 0; i < nested; i++) await inner(i);
    await gate().body(taskCallId);
    // Nobody answers what children wait for.
    const waits = waitsInTasks && name !== "leaf";
    if (waits && nested === 1) await signal("in_task");
    if (waits && nested === 2) await sleep(new Date(FAR));
    if (fails) throw new Error(`failed ${taskCallId} in attempt ${attempt}`);
    return { id: taskCallId, seen: [attempt] };
  };
  const step = task({ name: "step" }, run);
  const undoable = step.with({ rollback });
  const variants = { 1: { plain: step, undoable }, 2: retried(step, undoable) } as const;
  // Under a name of its own: what a child runs is told apart from what its parent runs.
  const leaf = task({ name: "leaf" }, run);
  const child = workflow({ name: "child" }, async (n: number) => leaf({ fails: false, nested: n }));
  const picky = task({ name: "picky", input: drawing, output: echoing }, run as never);
  let items: number[] = [];
  // How many of each were made: names and times must be the same in every run.
  const made = { pause: 0, sleep: 0, signal: 0, child: 0 };
  const go = async (p: Program): Promise<unknown> => {
    switch (p.kind) {
      case "step": {
        const kinds = variants[p.attempts === 2 ? 2 : 1];
        const chosen = p.rollback ? kinds.undoable : kinds.plain;
        const result = await chosen({ fails: p.fails, nested: p.nested });
        const { id } = result;
        result.id = "spoilt";
        if (result.seen.length > 1) throw new Error("an earlier pass has changed what a task gave");
        result.seen.push(0);
        return id;
      }
      case "item": {
        const item = items.shift() ?? "none left";
        const { id } = await (picky as Steps)({ fails: false, nested: 0, item });
        return [item, id];
      }
      case "value":
        return [await random(), await uuid()];
      case "globals":
        return [Math.random(), crypto.randomUUID()];
      case "timer":
        return new Promise((then) => setTimeout(then, 1, "late"));
      case "pause":
        return pause(`p${made.pause++}`);
      case "sleep":
        return sleep(new Date(FAR + made.sleep++ * 1000));
      case "signal":
        return signal(`s${made.signal++}`);
      case "child":
        return call(child, made.child++ % 2);
      case "sequence": {
        const results = [];
        for (const part of p.parts) results.push(await go(part));
        return results;
      }
      case "parallel":
        return parallel(p.parts.map((part) => () => go(part)));
      case "settled":
        return parallel(
          p.parts.map((part) => () => go(part)),
          { settle: true },
        );
      case "all":
        return Promise.all(p.parts.map(go));
      case "race":
        return Promise.race(p.parts.map(go));
      case "pipeline":
        return pipeline(0, ...p.parts.map((part) => () => go(part)));
      case "diamond": {
        const names = p.parts.map((_, i) => `n${i}`);
        const nodes = Object.fromEntries(
          p.parts.map((part, i) => [
            `n${i}`,
            { after: i === 0 ? [] : ["n0"], run: () => go(part) },
          ]),
        );
        const all = { ...nodes, end: { after: names, run: (outputs: object) => outputs } };
        return graph("diamond", all)(null);
      }
      case "map":
        return map(Array.from({ length: p.times }).keys(), () => go(p.part), {
          concurrency: p.concurrency,
        });
      case "attempt":
        return go(p.part).catch((error: Error) => `caught ${error.message}`);
      case "forgotten":
        go(p.part).catch(() => {});
        return "forgotten";
    }
  };
  const body = async (input: { items: number[]; drawn: string }) => {
    for (const kind of Object.keys(made)) made[kind as keyof typeof made] = 0;
    items = input.items;
    const begun = [Date.now(), input.drawn];
    return [begun, await go(program)];
  };
  const interpreting = workflow({ name: "random", input: drawing, output: echoing }, body);
  return { workflow: interpreting, child };
}

interface StepInput {
  fails: boolean;
  readonly nested: number;
  readonly item?: unknown;
}
type Steps = Task<StepInput, { id: string; seen: number[] }>;

/** Draws, and gives back what it was given. */
const echoing: StandardSchema<unknown, never> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => (draw() ? { value: value as never } : { issues: [] }),
  },
};

/** The second attempt comes an hour later: the execution is parked until then. */
function retried(plain: Steps, undoable: Steps) {
  const retry = { maxAttempts: 2, delay: "1h", retryIf: async () => draw() } as const;
  return { plain: plain.with({ retry }), undoable: undoable.with({ retry }) };
}
