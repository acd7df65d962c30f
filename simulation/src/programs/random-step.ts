import { type Draw, endsAfter, waitMs } from "./draw.ts";
import {
  ALWAYS,
  type Flavour,
  type Inside,
  type LivelyStep,
  type Program,
  SIGNAL_NAMES,
  TERMINAL,
} from "./program.ts";

const FLAVOURS: readonly Flavour[] = [
  ...(["text", "text", "text", "null", "undefined", "date", "map", "bigint", "nan"] as const),
  ...(["reserved", "surrogate", "large"] as const),
];

/** @param over What is known of it already. */
export function randomStep(draw: Draw, over: Partial<LivelyStep> = {}): LivelyStep {
  const { pick, chance, takes, longestMs, tasks, deaths } = draw;
  const inside = chance(0.2) ? Array.from({ length: pick([1, 1, 2]) }, () => wait(draw)) : [];
  const dies = chance(deaths) ? { dies: pick(["entry", "exit"] as const) } : {};
  return {
    kind: "step",
    task: pick(tasks),
    fails: pick([0, 0, 0, 0, 0, 1, 1, ALWAYS, TERMINAL]),
    takes_ms: Math.min(pick(takes), longestMs),
    nested: pick([0, 0, 0, 1, 2]),
    progress: pick([0, 0, 0, 2]),
    flavour: chance(0.9) ? pick(FLAVOURS.slice(0, -1)) : pick(FLAVOURS),
    deaf: chance(0.2),
    ...(inside.length > 0 && { inside }),
    ...dies,
    ...over,
  };
}

/** Something that the function of a step waits for. */
function wait(draw: Draw): Inside {
  const kind = draw.pick(["sleep", "sleep", "timer", "both", "signal", "pause"] as const);
  if (kind === "signal") return randomSignal(draw);
  if (kind === "pause") return { kind, after_ms: endsAfter(draw) };
  return { kind, ms: waitMs(draw) };
}

export function randomQueue({ random }: Draw): Program {
  return {
    kind: "queue",
    items: Array.from({ length: 1 + Math.floor(random() * 5) }, (_, i) => `i${i}`),
  };
}

export function randomSignal(draw: Draw): {
  readonly kind: "signal";
  readonly name: string;
  readonly timeout_ms: number | null;
} {
  return { kind: "signal", name: draw.pick(SIGNAL_NAMES), timeout_ms: endsAfter(draw) };
}
