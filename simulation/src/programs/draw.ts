import type { StepTask } from "./program.ts";

export interface RandomProgramOptions {
  /** From 0 up to 1, drawn from the run's seed. */
  readonly random: () => number;
  /** Levels of programs in programs. Default 3. */
  readonly depth?: number;
  /** Workflows called by workflows. Default 2. */
  readonly children?: number;
  /** The longest wait; longer ones cost a simulation the heartbeats of all that time. Default 60 s. */
  readonly longestMs?: number;
  /** Only what ends by itself: no pause or signal without a timeout. Default false. */
  readonly unattended?: boolean;
  /** What waits and tasks take, each as likely as the others. */
  readonly waits?: readonly number[];
  readonly takes?: readonly number[];
  /** The `inline_wait` of the engine, around which some waits lie. Default 1 s. */
  readonly inlineMs?: number;
  /** What steps call. */
  readonly tasks?: readonly StepTask[];
  /** Of how many steps the function kills its process, from 0 to 1. Default 0. */
  readonly deaths?: number;
}

/** What programs are drawn by, with nothing left open. */
export interface Draw extends Required<Omit<RandomProgramOptions, "depth" | "children">> {
  readonly pick: <Item>(items: readonly Item[]) => Item;
  readonly chance: (probability: number) => boolean;
}

/** Draws of one program. */
export function drawOf(options: RandomProgramOptions): Draw {
  const { random } = options;
  return {
    longestMs: 60_000,
    unattended: false,
    waits: WAITS,
    takes: TAKES,
    inlineMs: 1_000,
    tasks: TASKS,
    deaths: 0,
    ...options,
    pick: (items) => items[Math.floor(random() * items.length)] as never,
    chance: (probability) => random() < probability,
  };
}

const WAITS = [0, 1, 50, 900, 1_500, 10_000, 60_000];
const TAKES = [0, 0, 1, 5, 20, 100, 400, 2_000];
/** Not those whose outputs are kept in a storage, where nobody but that storage finds them. */
export const TASKS: readonly StepTask[] = [
  ...(["plain", "plain", "retried", "patient", "undoable", "rescued", "timed"] as const),
  ...(["late", "picky", "doubtful", "checked", "cached"] as const),
];

/** Null: it waits until somebody ends it. */
export function endsAfter(draw: Draw): number | null {
  return draw.unattended || draw.chance(0.3) ? Math.max(1, waitMs(draw)) : null;
}

export function waitMs({ pick, waits, longestMs }: Draw): number {
  return Math.min(pick(waits), longestMs);
}
