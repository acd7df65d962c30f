import {
  type Program,
  type ProgramInput,
  ROOT_PATH,
  SIGNAL_NAMES,
  type StepTask,
} from "@engine/simulation/program";
import { Random } from "@engine/simulation/random";
import { randomProgram } from "@engine/simulation/random-program";
import { drawnSetup, type Setup, type Shares } from "./setups.ts";

/** Something that an operator does so long after the start. */
export type Act = { readonly at_ms: number } & (
  | { readonly kind: "cancel" | "rename" }
  | { readonly kind: "signal"; readonly name: string }
  /** `part` of its log, from 0 to 1, is copied. */
  | { readonly kind: "fork"; readonly part: number }
);

/** One random program, and all that is done to it. */
export interface ProgramPlan {
  /** What it is drawn by, with the seed. */
  readonly n: number;
  readonly setup: Setup;
  readonly workflow: "program" | "limited_program" | "zod_program";
  readonly input: ProgramInput;
  /** Runs while no other program does. */
  readonly isAlone: boolean;
  readonly acts: readonly Act[];
  /** What it waits for is answered within so long. */
  readonly answeredWithin_ms: number;
  /** It is left alone first, to see how it rests. */
  readonly isLeftAlone: boolean;
}

export interface PlanOptions extends Shares {
  readonly seed: number;
  /** All code leaves alone what it is given; else that of a third of the programs does. */
  readonly isCareful: boolean;
}

/** Most are short: what goes wrong does so at the edges of waits, not in their middle. */
const WAITS = [0, 1, 3, 10, 20, 50, 80, 95, 105, 120, 150, 250];
const TAKES = [0, 0, 0, 1, 3, 10, 30, 90, 150];
const TASKS: readonly StepTask[] = [
  ...(["plain", "plain", "plain", "retried", "undoable", "rescued", "timed", "brisk"] as const),
  ...(["picky", "doubtful", "checked", "checked", "cached", "kept"] as const),
];

/** The program of that number: the same for the same seed and options. */
export function planOf(n: number, options: PlanOptions): ProgramPlan {
  const { seed, isCareful } = options;
  const random = new Random(`differential ${seed} ${n}`);
  const setup = drawnSetup(random.fork("setup"), options);
  const program = programOf(random.fork("program"), setup);
  const manner = random.fork("manner");
  const careful = isCareful || manner.chance(0.33);
  const answers = manner.fork("answers");
  return {
    n,
    setup,
    workflow: manner.pick(["program", "program", "limited_program", "zod_program"] as const),
    input: { program, path: ROOT_PATH, ...(careful && { careful }) },
    isAlone: manner.chance(0.01),
    acts: actsOf(random.fork("acts"), program),
    answeredWithin_ms: answers.pick([0, 40, 150, 250]),
    isLeftAlone: answers.chance(0.02),
  };
}

function programOf(random: Random, { inlineMs, isKilled }: Setup): Program {
  return randomProgram({
    random: () => random.next(),
    depth: random.pick([2, 3, 3]),
    children: 1,
    waits: random.chance(0.9) ? WAITS : [...WAITS, 1_020, 1_500],
    takes: TAKES,
    tasks: random.chance(0.95) ? TASKS : [...TASKS, "late", "late"],
    inlineMs,
    deaths: isKilled ? 0.003 : 0,
  });
}

function actsOf(random: Random, program: Program): readonly Act[] {
  const acts: Act[] = [];
  const within = (ms: number) => Math.round(random.next() ** 2 * ms);
  if (random.chance(0.12)) acts.push({ kind: "cancel", at_ms: within(600) });
  if (random.chance(0.2)) acts.push({ kind: "rename", at_ms: within(300) });
  if (random.chance(0.07)) acts.push({ kind: "fork", at_ms: within(800), part: random.next() });
  // A list that is worked off is where one that comes in between does the most harm.
  const isListening = /"(signal|inbox|queue)"/.test(JSON.stringify(program));
  const letters = random.chance(isListening ? 0.7 : 0.1) ? 1 + random.below(3) : 0;
  for (let i = 0; i < letters; i++) {
    acts.push({
      kind: "signal",
      name: random.pick([...SIGNAL_NAMES, "noise"]),
      at_ms: within(400),
    });
  }
  return acts.sort((a, b) => a.at_ms - b.at_ms);
}
