import type { Program } from "./program.ts";

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
  if (program.kind !== "step") return;
  if (program.nested > 0) yield { ...program, nested: 0 };
  if (program.progress > 0) yield { ...program, progress: 0 };
  if (program.takes_ms > 0) yield { ...program, takes_ms: 0 };
  if (program.flavour !== "text") yield { ...program, flavour: "text" };
  if (program.task !== "plain") yield { ...program, task: "plain" };
  if (program.fails > 0) yield { ...program, fails: 0 };
}
