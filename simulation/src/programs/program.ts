/**
 * A random workflow as data. One registered workflow interprets it (`interpreter.ts`), so that a seed
 * varies inputs only. Every call has a path, its place in the program, which is part of its input:
 * so a judge can tell calls apart without trusting the numbering of the engine.
 */

/** Which task a step calls: they differ in their options, which are fixed where they are defined. */
export type StepTask =
  | "plain"
  | "retried"
  | "patient"
  | "undoable"
  | "rescued"
  | "timed"
  /** Its second attempt comes after a delay just above an `inline_wait` of 0.1 s. */
  | "brisk"
  /** The same for the default of 1 s. */
  | "late"
  /** Asks, and takes its time to say, whether to try again. */
  | "picky"
  /** Cannot say whether to try again. */
  | "doubtful"
  /** Has schemas for its input and its output. */
  | "checked"
  /** Hands its result on to calls with an equal key. */
  | "cached"
  /** Keeps its output in a storage of its own. */
  | "kept"
  /** Nobody reads what it takes and gives; only simulations draw it. */
  | "secretive";

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

/** What the function of a step waits for itself; `both` is a sleep beside a plain timer. */
export type Inside =
  | { readonly kind: "sleep" | "timer" | "both"; readonly ms: number }
  | { readonly kind: "signal"; readonly name: string; readonly timeout_ms: number | null }
  | { readonly kind: "pause"; readonly after_ms: number | null };

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

/** A step of which more happens than that it takes its time. */
export interface LivelyStep extends Step {
  /** What its function waits for when it has taken its time, one after the other. */
  readonly inside?: readonly Inside[];
  /** Its function kills its process the first time it begins, or has ended. Only real processes do. */
  readonly dies?: "entry" | "exit";
}

/** How a body waits with a timer: by a callback, a tick, or functions taken out of their modules. */
export type TimerVia = "callback" | "interval" | "promisified" | "promises";

export type Program =
  | LivelyStep
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "timer"; readonly ms: number; readonly via?: TimerVia }
  /** `after_ms` null: it waits until somebody resumes it. */
  | { readonly kind: "pause"; readonly after_ms: number | null }
  | { readonly kind: "signal"; readonly name: string; readonly timeout_ms: number | null }
  | { readonly kind: "child"; readonly part: Program }
  | { readonly kind: "spawn"; readonly part: Program; readonly detach: boolean }
  | { readonly kind: "recorded" | "globals" }
  /** Takes items off the list that it was given, until it is empty. */
  | { readonly kind: "queue"; readonly items: readonly string[] }
  /** Takes so many signals of a name, with a step behind each. */
  | {
      readonly kind: "inbox";
      readonly name: string;
      readonly count: number;
      readonly timeout_ms: number | null;
    }
  /** Sleeps that begin one after the other, while the code computes for so long before it waits. */
  | { readonly kind: "naps"; readonly ms: readonly number[]; readonly busy_ms: number }
  /** Hands over a value that cannot be stored, and catches what comes of it. */
  | { readonly kind: "refused"; readonly by: "call" | "pause" | "task" }
  /** Reads what has happened so far. */
  | { readonly kind: "history" }
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
  /** The file that functions of tasks write to. Without it they report to the port of the process. */
  readonly trace?: string;
  /** Code leaves alone what it is given; else it changes all of it after use. */
  readonly careful?: true;
  /** What placed and bounded workflows (`author/placed.ts`, `author/bounded.ts`) read of it. */
  readonly where?: Where;
}

/** Of the worker that an execution is to have. */
export interface Where {
  readonly tier?: string | number;
  readonly zone?: string | number;
  readonly not_zone?: string | number;
  readonly served?: string;
  /** The routing input of the start, for those who judge it. */
  readonly hidden?: Hidden;
  /** The routing input that it gives to what it calls. */
  readonly handed?: Hidden;
  /** The worker that the start requires, for those who judge it. */
  readonly worker?: string;
}

/** What placement reads of a start, and nobody else. */
export type Hidden = { readonly disk?: string; readonly zone?: string | number };

/** What a body knew when it called a task, as it tells the task: it has to be the same in every replay. */
export interface Told {
  /** What its clock said on its first line, and what it says now. */
  readonly began: number;
  readonly clock: number;
  readonly random: number;
  readonly uuid: string;
  /** What the schema of its input has made up. */
  readonly token: string;
  readonly label: string | null;
  /** Digest of all that it was given until now, in the order in which it was. */
  readonly seen: string;
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
  brisk: { attempts: 2, hasRollback: false },
  late: { attempts: 2, hasRollback: false },
  picky: { attempts: 2, hasRollback: false },
  doubtful: { attempts: 1, hasRollback: false },
  checked: { attempts: 2, hasRollback: true },
  cached: { attempts: 2, hasRollback: false },
  kept: { attempts: 2, hasRollback: false },
  secretive: { attempts: 2, hasRollback: false },
};
/** The task that functions of steps call. */
export const INNER_TASK = "inner";
