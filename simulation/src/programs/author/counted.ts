/** Programs of which only so many are at work at a time. */
import { type Workflow, workflow } from "@engine/sdk";
import { concurrency, rate } from "@engine/sdk/routing";
import type { ProgramInput } from "../program.ts";
import { runProgram } from "./workflows.ts";

/** One at work, and so many that begin in a while. */
export const countedProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "counted_program", limits: [concurrency(1), rate(2, "5s")] },
  (of, ctx) => runProgram(of, ctx),
);
/** Two from their first claims to their ends, also while they wait. */
export const seatedProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "seated_program", limits: [concurrency(2, { holdWhileWaiting: true })] },
  (of, ctx) => runProgram(of, ctx),
);
