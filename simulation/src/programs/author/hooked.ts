/** What hooks start: their input is an envelope, and what they do is the same each time. */
import { type Workflow, workflow } from "@engine/sdk";
import type { Program, ProgramInput, Step } from "../program.ts";
import { runProgram } from "./workflows.ts";

/** New each time: code changes what it is given. */
function step(): Step {
  return {
    ...{ kind: "step", task: "plain", fails: 0, takes_ms: 20, nested: 0, progress: 0 },
    ...{ flavour: "text", deaf: false },
  };
}

function programOf(program: Program): ProgramInput {
  return { program, path: "r" };
}

export const hookedProgram: Workflow<unknown, unknown> = workflow(
  { name: "hooked_program" },
  (_, ctx) => runProgram(programOf(step()), ctx),
);
/** Its child has the same hook behind it. */
export const hookedParent: Workflow<unknown, unknown> = workflow(
  { name: "hooked_parent" },
  (_, ctx) => runProgram(programOf({ kind: "child", part: step() }), ctx),
);
