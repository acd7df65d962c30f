/** What a start of the plan starts, each part of it drawn by itself. */
import { handedOf, whereOf } from "./places.ts";
import type { Plan } from "./plan.ts";
import { BOUNDED_WORKFLOWS, COUNTED_WORKFLOWS } from "./programs/counts.ts";
import type { Where } from "./programs/program.ts";
import { PROGRAM_WORKFLOWS } from "./programs/program-source.ts";
import { GUIDING_WORKFLOW, PLACED_WORKFLOWS } from "./programs/wants.ts";
import type { Random } from "./random.ts";

/** The most of them are those that read their input. */
const PLACED_STARTS = [PLACED_WORKFLOWS[0], ...PLACED_WORKFLOWS];

export interface Started {
  readonly workflow: string;
  readonly where?: Where;
  /** Its program is that of a child that it calls. */
  readonly isCalled?: true;
}

/** Of the start with that number; with the worker that it requires. */
export function startedBy(
  plan: Plan,
  random: Random,
  { target, drawn }: { readonly target: number; readonly drawn: number },
): Started {
  const started = chosen(plan, random, { target, drawn });
  const worker = plan.requires && requiredOf(plan, random.fork(`worker of program ${target}`));
  return worker ? { ...started, where: { ...started.where, worker } } : started;
}

function requiredOf({ workers }: Plan, random: Random): string | undefined {
  return random.chance(0.6) ? `w${1 + random.below(workers)}` : undefined;
}

function chosen(
  plan: Plan,
  random: Random,
  { target, drawn }: { readonly target: number; readonly drawn: number },
): Started {
  const bound = random.fork(`bounds of program ${target}`);
  if (plan.bounds && bound.chance(0.8)) {
    return { workflow: bound.pick(BOUNDED_WORKFLOWS[plan.bounds]), where: whereOf(bound) };
  }
  const draws = random.fork(`place of program ${target}`);
  if (plan.places && draws.chance(0.6)) {
    const where = whereOf(draws);
    return { workflow: draws.pick(PLACED_STARTS), where };
  }
  const guide = random.fork(`guide of program ${target}`);
  if (plan.places && guide.chance(0.5)) {
    return { workflow: GUIDING_WORKFLOW, where: handedOf(guide), isCalled: true };
  }
  if (plan.counts && draws.chance(0.7)) return { workflow: draws.pick(COUNTED_WORKFLOWS) };
  return { workflow: PROGRAM_WORKFLOWS[drawn < 0.8 ? 0 : drawn < 0.9 ? 1 : 2] };
}

/** Of the schedule with that number. */
export function scheduledBy(plan: Plan, random: Random, target: number): Started {
  const bound = random.fork(`bounds of schedule ${target}`);
  if (plan.bounds && bound.chance(0.6)) {
    return { workflow: bound.pick(BOUNDED_WORKFLOWS[plan.bounds]), where: whereOf(bound) };
  }
  const draws = random.fork(`place of schedule ${target}`);
  const where = plan.places && draws.chance(0.5) ? whereOf(draws) : undefined;
  return where ? { workflow: "hidden_program", where } : { workflow: "program" };
}
