/** What real processes register: the workflows of a simulation, and one whose input zod completes. */
import { type Workflow, workflow } from "@engine/sdk";
import * as z from "zod";
import { runProgram, type Stamped } from "./author/workflows.ts";
import type { ProgramInput } from "./program.ts";

export { heavyProgram, limitedProgram, program } from "./author/workflows.ts";

const Input = z.looseObject({
  token: z.string().default(() => crypto.randomUUID()),
  weight: z.number().default(() => Math.random()),
  asked_at: z.date().default(() => new Date()),
});

/** Runs any program; a schema of zod's makes up what the input lacks. */
export const zodProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "zod_program", input: Input },
  (input, ctx) => runProgram(input as unknown as Stamped, ctx),
) as never;
