/** Programs of which only so many are at work at a time, by what their input or an operator says. */
import { type Workflow, workflow } from "@engine/sdk";
import { concurrency, input, limit, rate, routingInput } from "@engine/sdk/routing";
import type { ProgramInput } from "../program.ts";
import { runProgram } from "./workflows.ts";

/** One at work of each zone, and one that begins in a while of each disk. */
export const keyedProgram: Workflow<ProgramInput, unknown> = workflow(
  {
    name: "keyed_program",
    limits: [
      concurrency(1, { key: input("where.zone") }),
      rate(1, "5s", { key: routingInput("disk") }),
    ],
  },
  (of, ctx) => runProgram(of, ctx),
);
/** As many as operators say. */
export const sharedProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "shared_program", limits: [limit("crew")] },
  (of, ctx) => runProgram(of, ctx),
);
/** The same together with the ones before, and of each zone as many as they say beside that. */
export const jointProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "joint_program", limits: [limit("crew"), limit("desk", { key: input("where.zone") })] },
  (of, ctx) => runProgram(of, ctx),
);
/** One at work; another one is refused. */
export const strictProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "strict_program", limits: [concurrency(1, { overflow: "reject" })] },
  (of, ctx) => runProgram(of, ctx),
);
