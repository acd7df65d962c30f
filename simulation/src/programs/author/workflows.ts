/** The workflows of programs: they run the program that is their input. */
import { type Workflow, type WorkflowContext, workflow } from "@engine/sdk";
import type { Hidden, ProgramInput } from "../program.ts";
import { type Interpretation, interpret } from "./interpret.ts";
import { type Bequest, Pass } from "./pass.ts";
import { completing, passing } from "./slow-schema.ts";
import { spoil } from "./spoil.ts";
import { port } from "./surroundings.ts";

/** An input with what its schema has made up. */
export type Stamped = ProgramInput & { readonly token?: string };

/** The body of every workflow here. */
export async function runProgram(
  input: Stamped,
  ctx: WorkflowContext,
  child: Interpretation["child"] = program,
  handed?: Hidden,
): Promise<unknown> {
  const began = Date.now();
  const { program: of, path, token = "none" } = input;
  const pass = new Pass({ ctx, began, token, bequest: bequestOf(input) });
  const by: Interpretation = { pass, child, handed };
  const value = await interpret(of, path, by);
  port()?.saw({ execution_id: ctx.executionId, path: "output", kind: "output", value });
  spoil(input, pass.careful);
  return value;
}

/** Without keys for what is not there: a value that is undefined would be no plain JSON. */
function bequestOf({ trace, careful, where }: ProgramInput): Bequest {
  return {
    ...(trace !== undefined && { trace }),
    ...(careful && { careful }),
    ...(where && { where }),
  };
}

/** Runs any program, between schemas that take their time. */
export const program: Workflow<ProgramInput, unknown> = workflow(
  { name: "program", input: completing<Stamped>("token"), output: passing() },
  (input, ctx) => runProgram(input, ctx),
);
/** Without schemas; it fails when it takes longer than 20 s. */
export const limitedProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "limited_program", timeout: "20s" },
  (input, ctx) => runProgram(input, ctx),
);
/** Without schemas, on workers with two cores to spare. */
export const heavyProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "heavy_program", requests: { cpu: 2 } },
  (input, ctx) => runProgram(input, ctx),
);
