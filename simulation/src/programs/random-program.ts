import {
  ALWAYS,
  type Compound,
  type Flavour,
  type Program,
  SIGNAL_NAMES,
  type StepTask,
  TERMINAL,
} from "./program.ts";

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
}

/** The same draws give the same program. */
export function randomProgram(options: RandomProgramOptions): Program {
  const { random, depth = 3, children = 2, longestMs = 60_000, unattended = false } = options;
  return generate({ random, longestMs, unattended }, depth, children);
}

interface Draw {
  readonly random: () => number;
  readonly longestMs: number;
  readonly unattended: boolean;
}

const LEAVES = ["sleep", "timer", "pause", "signal", "recorded", "globals"] as const;
const COMPOUNDS: readonly Compound[] = [
  ...(["sequence", "sequence", "parallel", "settled", "all", "race", "pipeline"] as const),
  "graph",
];
const TASKS: readonly StepTask[] = [
  ...(["plain", "plain", "retried", "patient", "undoable", "rescued", "timed"] as const),
];
const FLAVOURS: readonly Flavour[] = [
  ...(["text", "text", "text", "null", "undefined", "date", "map", "bigint", "nan"] as const),
  ...(["reserved", "surrogate", "large"] as const),
];

function generate(draw: Draw, depth: number, children: number): Program {
  const { random } = draw;
  const roll = random();
  // A program that is only one leaf would say little.
  const isLeaf = depth <= 0 || (depth < 3 && roll < 0.45);
  if (isLeaf) return random() < 0.6 ? step(draw) : leaf(draw);
  const part = (with_children = children) => generate(draw, depth - 1, with_children);
  if (roll < 0.75) {
    const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => part());
    return { kind: pick(random, COMPOUNDS), parts };
  }
  if (roll < 0.83) {
    const times = Math.floor(random() * 4);
    return { kind: "map", part: part(), times, concurrency: 1 + Math.floor(random() * 3) };
  }
  if (roll < 0.91 && children > 0) {
    if (random() < 0.75) return { kind: "child", part: part(children - 1) };
    return { kind: "spawn", part: part(children - 1), detach: random() < 0.5 };
  }
  return {
    kind: pick(random, ["attempt", "attempt", "finally", "forgotten"] as const),
    part: part(),
  };
}

function step({ random, longestMs }: Draw): Program {
  const task = pick(random, TASKS);
  return {
    kind: "step",
    task,
    fails: pick(random, [0, 0, 0, 0, 0, 1, 1, ALWAYS, TERMINAL]),
    takes_ms: pick(random, [0, 0, 1, 5, 20, 100, 400, Math.min(2_000, longestMs)]),
    nested: pick(random, [0, 0, 0, 1, 2]),
    progress: pick(random, [0, 0, 0, 2]),
    flavour: random() < 0.9 ? pick(random, FLAVOURS.slice(0, -1)) : pick(random, FLAVOURS),
    deaf: random() < 0.2,
  };
}

function leaf({ random, longestMs, unattended }: Draw): Program {
  const ms = Math.min(pick(random, [0, 1, 50, 900, 1_500, 10_000, 60_000]), longestMs);
  const kind = pick(random, LEAVES);
  const ends = unattended || random() < 0.3 ? Math.max(1, ms) : null;
  if (kind === "pause") return { kind, after_ms: ends };
  if (kind === "signal") return { kind, name: pick(random, SIGNAL_NAMES), timeout_ms: ends };
  if (kind === "sleep" || kind === "timer") return { kind, ms };
  return { kind };
}

function pick<Item>(random: () => number, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}
