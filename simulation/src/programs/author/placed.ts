/** Programs that not every worker may run, by what their input says of it. */
import { type Workflow, workflow } from "@engine/sdk";
import {
  input,
  label,
  least,
  load,
  meta,
  optional,
  prefer,
  require,
  routingInput,
  score,
  service,
  sticky,
  when,
} from "@engine/sdk/routing";
import type { ProgramInput } from "../program.ts";
import { runProgram } from "./workflows.ts";

/** On workers that operators have said something of. Its children are placed as it is. */
export const placedProgram: Workflow<ProgramInput, unknown> = workflow(
  {
    name: "placed_program",
    affinity: require(meta("tier").eq(input("where.tier")), optional(
      meta("zone").ne(input("where.not_zone")),
    ), when(input("where.served").eq("yes"), service("inference"))),
    routing: score(
      prefer(meta("zone").eq(input("where.zone")), { weight: 2 }),
      least(load()),
      sticky(),
    ),
  },
  (of, ctx) => runProgram(of, ctx, placedProgram),
);
/** On workers that say one thing of themselves. */
export const labelledProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "labelled_program", affinity: { disk: "ssd" } },
  (of, ctx) => runProgram(of, ctx),
);
/** By what nobody reads back of its start, or of the call that made it. */
export const hiddenProgram: Workflow<ProgramInput, unknown> = workflow(
  {
    name: "hidden_program",
    affinity: require(label("disk").ne(routingInput("disk")), optional(
      meta("zone").eq(routingInput("zone")),
    )),
  },
  (of, ctx) => runProgram(of, ctx),
);
/** Anywhere; where its children go it says to nobody but those who place them. */
export const guidingProgram: Workflow<ProgramInput, unknown> = workflow(
  { name: "guiding_program" },
  (of, ctx) => runProgram(guiding(of), ctx, hiddenProgram, of.where?.handed),
);

/** What it was started with counts for itself alone: its children read what they are handed. */
function guiding(of: ProgramInput): ProgramInput {
  const { hidden: _, handed, ...where } = of.where ?? {};
  return { ...of, where: { ...where, ...(handed && { hidden: handed }) } };
}
