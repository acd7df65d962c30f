import { type Draw, drawOf, endsAfter, type RandomProgramOptions, waitMs } from "./draw.ts";
import type { Compound, Program, TimerVia } from "./program.ts";
import { randomQueue, randomSignal, randomStep } from "./random-step.ts";
import { scene } from "./scenes.ts";

const LEAVES = [
  ...(["sleep", "timer", "pause", "signal", "recorded", "globals", "queue", "inbox"] as const),
  ...(["refused", "history"] as const),
];
const VIAS: readonly TimerVia[] = ["callback", "interval", "promisified", "promises"];
const COMPOUNDS: readonly Compound[] = [
  ...(["sequence", "sequence", "parallel", "settled", "all", "race", "pipeline"] as const),
  "graph",
];

/** The same draws give the same program. */
export function randomProgram(options: RandomProgramOptions): Program {
  const { depth = 3, children = 2 } = options;
  return generate(drawOf(options), depth, children);
}

function generate(draw: Draw, depth: number, children: number): Program {
  const { random, chance, pick } = draw;
  const roll = random();
  // A program that is only one leaf would say little.
  const isLeaf = depth <= 0 || (depth < 3 && roll < 0.45);
  if (isLeaf) return chance(0.6) ? randomStep(draw) : leaf(draw);
  if (chance(0.2)) return scene(draw);
  const part = (with_children = children) => generate(draw, depth - 1, with_children);
  if (roll < 0.75) {
    const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => part());
    return { kind: pick(COMPOUNDS), parts };
  }
  if (roll < 0.83) {
    const times = Math.floor(random() * 4);
    return { kind: "map", part: part(), times, concurrency: 1 + Math.floor(random() * 3) };
  }
  if (roll < 0.91 && children > 0) {
    if (chance(0.75)) return { kind: "child", part: part(children - 1) };
    return { kind: "spawn", part: part(children - 1), detach: chance(0.5) };
  }
  return { kind: pick(["attempt", "attempt", "finally", "forgotten"] as const), part: part() };
}

function leaf(draw: Draw): Program {
  const { pick, chance, random } = draw;
  const kind = pick(LEAVES);
  switch (kind) {
    case "sleep":
      return { kind, ms: waitMs(draw) };
    case "timer":
      return { kind, ms: waitMs(draw), ...(chance(0.7) && { via: pick(VIAS) }) };
    case "pause":
      return { kind, after_ms: endsAfter(draw) };
    case "signal":
      return randomSignal(draw);
    case "recorded":
    case "globals":
    case "history":
      return { kind };
    case "refused":
      return { kind, by: pick(["call", "pause", "task"] as const) };
    case "queue":
      return randomQueue(draw);
    case "inbox":
      return { ...randomSignal(draw), kind, count: 1 + Math.floor(random() * 3) };
  }
}
