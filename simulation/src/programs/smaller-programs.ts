import type { LivelyStep, Program } from "./program.ts";

/** Programs with one thing less, the greatest leaps first: how a failing one becomes a short one. */
export function* smallerPrograms(program: Program): Generator<Program> {
  if ("parts" in program) {
    yield* program.parts;
    for (const [i, part] of program.parts.entries()) {
      if (program.parts.length > 1) yield { ...program, parts: program.parts.toSpliced(i, 1) };
      for (const less of smallerPrograms(part)) {
        yield { ...program, parts: program.parts.with(i, less) };
      }
    }
    return;
  }
  if ("part" in program) {
    yield program.part;
    if (program.kind === "map" && program.times > 1) yield { ...program, times: program.times - 1 };
    for (const part of smallerPrograms(program.part)) yield { ...program, part };
    return;
  }
  if (program.kind === "step") yield* smallerSteps(program);
  else yield* smallerLeaves(program);
}

function* smallerSteps(step: LivelyStep): Generator<LivelyStep> {
  const { inside = [], dies, ...rest } = step;
  if (dies !== undefined) yield inside.length > 0 ? { ...rest, inside } : rest;
  for (const i of inside.keys()) {
    const { inside: _, ...without } = step;
    const less = inside.toSpliced(i, 1);
    yield less.length > 0 ? { ...without, inside: less } : without;
  }
  if (step.nested > 0) yield { ...step, nested: 0 };
  if (step.progress > 0) yield { ...step, progress: 0 };
  if (step.takes_ms > 0) yield { ...step, takes_ms: 0 };
  if (step.flavour !== "text") yield { ...step, flavour: "text" };
  if (step.task !== "plain") yield { ...step, task: "plain" };
  if (step.fails > 0) yield { ...step, fails: 0 };
}

function* smallerLeaves(leaf: Exclude<Program, LivelyStep>): Generator<Program> {
  switch (leaf.kind) {
    case "timer": {
      const { via, ...plain } = leaf;
      if (via !== undefined) yield plain;
      return;
    }
    case "queue":
      for (const i of leaf.items.keys()) yield { ...leaf, items: leaf.items.toSpliced(i, 1) };
      return;
    case "inbox":
      if (leaf.count > 1) yield { ...leaf, count: leaf.count - 1 };
      return;
    case "naps":
      if (leaf.busy_ms > 0) yield { ...leaf, busy_ms: 0 };
      for (const i of leaf.ms.keys()) {
        if (leaf.ms.length > 1) yield { ...leaf, ms: leaf.ms.toSpliced(i, 1) };
      }
      return;
    default:
      return;
  }
}
