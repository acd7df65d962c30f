/** What real processes register: the workflows of a simulation, and one whose input zod completes. */
import { type AnyWorkflow, workflow } from "@engine/sdk";
import * as z from "zod";
import { runProgram, type Stamped } from "./author/workflows.ts";

export { heavyProgram, limitedProgram, program } from "./author/workflows.ts";

const Input = z.looseObject({
  token: z.string().default(() => crypto.randomUUID()),
  weight: z.number().default(() => Math.random()),
  asked_at: z.date().default(() => new Date()),
});

/** Runs any program; what zod makes up is told to its tasks. */
export const zodProgram: AnyWorkflow = workflow(
  { name: "zod_program", input: Input },
  (input, ctx) => {
    const token = `${input.token} ${input.weight} ${input.asked_at.getTime()}`;
    return runProgram({ ...(input as unknown as Stamped), token }, ctx);
  },
);
