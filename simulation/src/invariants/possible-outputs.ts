import { decode } from "@engine/contract";
import type { Evidence } from "../evidence.ts";
import { possibleEnds } from "../programs/possible-ends.ts";
import type { ProgramInput } from "../programs/program.ts";
import { rootOf, undisturbed } from "./engine-ends.ts";
import { storedForm } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** An execution ends as its program can end: with the right output, or with a failure that it has. */
export function possibleOutputs(evidence: Evidence): readonly Violation[] {
  return undisturbed(evidence).flatMap(({ execution_id, state, input, output, failure }) => {
    const { program, path } = decode(storedForm(input, evidence)) as ProgramInput;
    const possible = possibleEnds(program, path);
    const say = (message: string): Violation[] => [{ invariant: "output", execution_id, message }];
    if (state === "COMPLETED") {
      const value = decode(storedForm(output, evidence));
      if (possible.canReturn && possible.returns(value)) return [];
      return say(`it returned ${JSON.stringify(output).slice(0, 300)}, which its program cannot`);
    }
    const message = failure ? rootOf(failure) : "";
    if (possible.canFail && possible.fails(message)) return [];
    return say(`it failed with "${message}" (${failure?.type}), which its program cannot`);
  });
}
