/** What executions were started with, by hand of those who judge them. */
import { decode, type ExecutionRow } from "@engine/contract";
import type { Evidence } from "../evidence.ts";
import { ownProgram } from "../programs/hooked.ts";
import type { ProgramInput } from "../programs/program.ts";
import { storedForm } from "./recorded-calls.ts";

type Inputs = ReadonlyMap<string, ProgramInput>;

/** Several judges ask, and for every commit. */
const known = new WeakMap<Evidence, Inputs>();

/** Undefined: retention has deleted it, and nobody can say anything of it. */
export function inputOf(execution_id: string, evidence: Evidence): ProgramInput | undefined {
  const inputs = known.get(evidence) ?? inputsOf(evidence);
  known.set(evidence, inputs);
  return inputs.get(execution_id);
}

function inputsOf(evidence: Evidence): Inputs {
  return new Map(
    evidence.executions.map(({ row }) => [row.execution_id, programInput(row, evidence)]),
  );
}

/** What hooks start has an envelope for its input, and a program of its own. */
function programInput(
  { workflow, input }: Pick<ExecutionRow, "workflow" | "input">,
  evidence: Evidence,
): ProgramInput {
  return ownProgram(workflow) ?? (decode(storedForm(input, evidence)) as ProgramInput);
}
