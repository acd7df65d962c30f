/** What executions were started with, by hand of those who judge them. */
import { decode } from "@engine/contract";
import type { Evidence } from "../evidence.ts";
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
    evidence.executions.map(({ row: { execution_id, input } }) => [
      execution_id,
      decode(storedForm(input, evidence)) as ProgramInput,
    ]),
  );
}
