import { decode, isTerminal } from "@engine/contract";
import type { Evidence } from "../evidence.ts";
import { possibleEnds } from "../programs/possible-ends.ts";
import type { ProgramInput } from "../programs/program.ts";
import { rootOf, undisturbed } from "./engine-ends.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { inputOf } from "./inputs.ts";
import { storedForm } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** An execution ends as its program can end: with the right output, or with a failure that it has. */
export function possibleOutputs(
  evidence: Evidence,
  excuse: Excuse = uncounted,
): readonly Violation[] {
  const ofItself = new Set(undisturbed(evidence));
  const ended = evidence.executions.filter(({ row }) => isTerminal(row.state));
  return ended.flatMap(({ row }) => {
    if (!ofItself.has(row) && excuse("ended from outside")) return [];
    const { execution_id, state, output, failure } = row;
    const { program, path } = inputOf(execution_id, evidence) as ProgramInput;
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
