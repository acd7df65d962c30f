/**
 * A random workflow as data. One registered workflow interprets it (`interpreter.ts`), so that a seed
 * varies inputs only. Every call has a path, its place in the program, which is part of its input:
 * so a judge can tell calls apart without trusting the numbering of the engine.
 */

/** Which task a step calls: they differ in their options, which are fixed where they are defined. */
export type StepTask = "plain" | "retried" | "patient" | "undoable" | "rescued" | "timed";

/** What a step returns beside its path, to put every kind of value through the log. */
export type Flavour =
  | "text"
  | "null"
  | "undefined"
  | "date"
  | "map"
  | "bigint"
  | "nan"
  | "reserved"
  | "surrogate"
  | "large";

export interface Step {
  readonly kind: "step";
  readonly task: StepTask;
  /** So many of the first attempts throw; from `TERMINAL` on the first one ends its retries. */
  readonly fails: number;
  readonly takes_ms: number;
  /** Tasks that its function calls, one after the other. */
  readonly nested: number;
  readonly progress: number;
  readonly flavour: Flavour;
  /** Its function does not listen to its signal. */
  readonly deaf: boolean;
}

export type Program =
  | Step
  | { readonly kind: "sleep" | "timer"; readonly ms: number }
  /** `after_ms` null: it waits until somebody resumes it. */
  | { readonly kind: "pause"; readonly after_ms: number | null }
  | { readonly kind: "signal"; readonly name: string; readonly timeout_ms: number | null }
  | { readonly kind: "child"; readonly part: Program }
  | { readonly kind: "spawn"; readonly part: Program; readonly detach: boolean }
  | { readonly kind: "recorded" | "globals" }
  | { readonly kind: Compound; readonly parts: readonly Program[] }
  | {
      readonly kind: "map";
      readonly part: Program;
      readonly times: number;
      readonly concurrency: number;
    }
  | { readonly kind: "attempt" | "finally" | "forgotten"; readonly part: Program };

export type Compound = "sequence" | "parallel" | "settled" | "all" | "race" | "pipeline" | "graph";

/** The input of every workflow here. */
export interface ProgramInput {
  readonly program: Program;
  /** Of the program: `r`, and for a child the place of its call. */
  readonly path: string;
}

/** The path of the part of a program. */
export function partPath(path: string, part: number | string): string {
  return `${path}.${part}`;
}

export const ROOT_PATH = "r";
/** More attempts than any task makes. */
export const ALWAYS = 9;
/** Fails at once, whatever attempts are left. */
export const TERMINAL = 99;
/** What the parts of a program that wait for signals may wait for. */
export const SIGNAL_NAMES: readonly string[] = ["s0", "s1"];
/** Stands in every progress value, so that one that was stored is found. */
export const PROGRESS_MARK = "progress-that-is-never-stored";

/** Of each task: attempts it makes, and whether a cancel has something to undo. */
export const STEP_TASKS: Readonly<
  Record<StepTask, { readonly attempts: number; readonly hasRollback: boolean }>
> = {
  plain: { attempts: 1, hasRollback: false },
  retried: { attempts: 3, hasRollback: false },
  patient: { attempts: 2, hasRollback: false },
  undoable: { attempts: 2, hasRollback: true },
  rescued: { attempts: 2, hasRollback: true },
  timed: { attempts: 1, hasRollback: true },
};
/** The task that functions of steps call. */
export const INNER_TASK = "inner";
