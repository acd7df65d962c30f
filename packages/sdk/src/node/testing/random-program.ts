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
  signal,
  sleep,
  type Task,
  task,
  uuid,
  workflow,
} from "../../index.ts";
import type { Host } from "../../replay/port.ts";
import { nodeHost } from "../host.ts";

export type Leaf = "value" | "pause" | "sleep" | "signal" | "child" | "globals" | "timer";
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

export interface Interpreted {
  readonly workflow: AnyWorkflow;
  readonly child: AnyWorkflow;
}

/**
 * The workflow that interprets a program; `gate` is where its task bodies wait.
 *
 * @param nestedWait Those of calls made in task bodies too, so that a crash may catch them open.
 */
export function interpreter(
  program: Program,
  gate: () => Scheduler,
  { nestedWait = false }: { readonly nestedWait?: boolean } = {},
): Interpreted {
  const rollback = (_: unknown, { taskCallId }: { taskCallId: string }) =>
    void gate().undone.push(taskCallId);
  const inner = task({ name: "inner", rollback }, async (n: number, { taskCallId }) => {
    if (nestedWait) await gate().body(taskCallId);
    return n;
  });
  const run = async (
    input: { fails: boolean; nested: number },
    { taskCallId, attempt }: { taskCallId: string; attempt: number },
  ) => {
    for (let i = 0; i < input.nested; i++) await inner(i);
    await gate().body(taskCallId);
    if (input.fails) throw new Error(`failed ${taskCallId} in attempt ${attempt}`);
    return taskCallId;
  };
  const step = task({ name: "step" }, run);
  const undoable = step.with({ rollback });
  const variants = { 1: { plain: step, undoable }, 2: retried(step, undoable) } as const;
  // Under a name of its own: what a child runs is told apart from what its parent runs.
  const leaf = task({ name: "leaf" }, run);
  const child = workflow({ name: "child" }, async (n: number) => leaf({ fails: false, nested: n }));
  // How many of each were made: names and times must be the same in every run.
  const made = { pause: 0, sleep: 0, signal: 0, child: 0 };
  const go = async (p: Program): Promise<unknown> => {
    switch (p.kind) {
      case "step": {
        const kinds = variants[p.attempts === 2 ? 2 : 1];
        const chosen = p.rollback ? kinds.undoable : kinds.plain;
        return chosen({ fails: p.fails, nested: p.nested });
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
  const body = async () => {
    for (const kind of Object.keys(made)) made[kind as keyof typeof made] = 0;
    return go(program);
  };
  return { workflow: workflow({ name: "random" }, body), child };
}

type Steps = Task<{ fails: boolean; nested: number }, string>;

/** The second attempt comes an hour later: the execution is parked until then. */
function retried(plain: Steps, undoable: Steps) {
  const retry = { maxAttempts: 2, delay: "1h" } as const;
  return { plain: plain.with({ retry }), undoable: undoable.with({ retry }) };
}
