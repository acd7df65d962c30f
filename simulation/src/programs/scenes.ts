/** What comes together in programs of people now and then, and by chance alone hardly ever. */
import { type Draw, endsAfter, waitMs } from "./draw.ts";
import type { Program, TimerVia } from "./program.ts";
import { randomQueue, randomSignal, randomStep } from "./random-step.ts";

type Scene = (draw: Draw) => Program;

export function scene(draw: Draw): Program {
  return draw.pick(SCENES)(draw);
}

/** A task that waits for news when it has worked for a while, beside somebody who is asked. */
const gate: Scene = (draw) => {
  const inside = [randomSignal(draw), ...(draw.chance(0.3) ? [sleepInside(draw)] : [])];
  const outer = randomStep(draw, { inside, fails: 0, takes_ms: draw.pick([20, 60, 150]) });
  return together(draw, [outer, { kind: "pause", after_ms: endsAfter(draw) }]);
};

/**
 * A retry that comes so late that it just may park, beside something that ends right before: a few times,
 * since it takes the very millisecond.
 */
const neighbours: Scene = (draw) => {
  const isShort = draw.inlineMs < 1_000;
  const [task, delay] = isShort ? (["brisk", 103] as const) : (["late", 1_010] as const);
  const round = (): Program => {
    const retried = randomStep(draw, { task, fails: 1, takes_ms: 0, nested: 0, inside: [] });
    const ms = delay + draw.pick([-8, -5, -4, -3, -3, -2, -2, -1, 0, 3]);
    const sibling = draw.pick<Program>([
      randomStep(draw, { fails: 0, takes_ms: ms, inside: [] }),
      { kind: "sleep", ms },
      { kind: "timer", ms, via: "promises" },
    ]);
    return together(draw, draw.chance(0.5) ? [retried, sibling] : [sibling, retried]);
  };
  return { kind: "sequence", parts: isShort ? [round(), round(), round()] : [round()] };
};

/** A list that is worked off while letters come. */
const mail: Scene = (draw) => {
  const count = draw.pick([1, 2, 3]);
  return together(draw, [randomQueue(draw), { ...randomSignal(draw), kind: "inbox", count }]);
};

/** A mistake that is caught, and a wait behind which all of it is replayed. */
const stumble: Scene = (draw) => {
  const by = draw.pick(["call", "pause", "task"] as const);
  const pause = { kind: "pause", after_ms: endsAfter(draw) } as const;
  return {
    kind: "sequence",
    parts: [
      { kind: "refused", by },
      draw.pick<Program>([pause, { kind: "sleep", ms: waitMs(draw) }]),
    ],
  };
};

/** Sleeps on both sides of what is waited for in place, while the code computes. */
const naps: Scene = ({ inlineMs, pick }) => {
  const ms = pick([
    [1.1, 0.9],
    [0.9, 1.1],
    [1.05, 0.95, 1.02],
    [1.2, 0.4],
  ]).map((factor) => Math.round(factor * inlineMs));
  return {
    kind: "naps",
    ms,
    busy_ms: pick(inlineMs < 1_000 ? [0, 1.5, 2] : [0, 0, 0, 1.5]) * inlineMs,
  };
};

/** Timers of a body that are awaited when somebody cancels, say. */
const timers: Scene = (draw) => {
  const via: TimerVia = draw.pick(["callback", "promisified", "promises"]);
  const timer = { kind: "timer", ms: Math.max(...draw.waits, 1), via } as const;
  return draw.pick<Program>([
    { kind: "sequence", parts: [{ ...timer, ms: Math.min(timer.ms, draw.longestMs) }] },
    { kind: "race", parts: [{ ...timer, ms: waitMs(draw) }, randomStep(draw)] },
  ]);
};

/** Chance before and behind tasks whose options call code of their own. */
const draws: Scene = (draw) => {
  const task = draw.pick(draw.tasks.filter((one) => ASKING.has(one)));
  const step = randomStep(draw, { task, fails: draw.pick([0, 1]) });
  const wait: Program = draw.chance(0.5)
    ? { kind: "sleep", ms: waitMs(draw) }
    : { kind: "pause", after_ms: endsAfter(draw) };
  const globals = { kind: "globals" } as const;
  return { kind: "sequence", parts: [globals, step, globals, wait, randomStep(draw), globals] };
};

const ASKING: ReadonlySet<string> = new Set(["picky", "doubtful", "checked", "cached", "kept"]);
const SCENES: readonly Scene[] = [
  ...[gate, gate, neighbours, neighbours, mail, stumble, naps, timers, draws],
];

function sleepInside(draw: Draw): { readonly kind: "sleep"; readonly ms: number } {
  return { kind: "sleep", ms: waitMs(draw) };
}

function together(draw: Draw, parts: readonly Program[]): Program {
  return { kind: draw.pick(["all", "all", "parallel", "settled"] as const), parts };
}
