import { decode, type Failure } from "@engine/contract";
import { possibleEnds } from "@engine/simulation/possible-ends";
import type { ProgramInput } from "@engine/simulation/program";
import type { Evidence, ExecutionSeen, Violation } from "../evidence.ts";

/** Failures by which the engine ends an execution, whatever its code was at. */
const BY_ENGINE: ReadonlySet<string> = new Set(["WorkflowTimeoutError"]);

/** An execution ends as its program can end: with the output that it must give, or a failure that it has. */
export function rightEnds(evidence: Evidence): readonly Violation[] {
  const disturbed = disturbedOf(evidence.executions);
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution;
    if (disturbed.has(execution_id)) return [];
    return wrongEnd(execution).map((message) => ({ judge: "right ends", execution_id, message }));
  });
}

function wrongEnd({ history, input, end }: ExecutionSeen): string[] {
  const { program, path } = decode(input) as ProgramInput;
  const possible = possibleEnds(program, path);
  const type = history.events.at(-1)?.type;
  if (type === "WORKFLOW_COMPLETED") {
    if (possible.canReturn && possible.returns(decode(end))) return [];
    return [`it returned ${JSON.stringify(end).slice(0, 300)}, which its program cannot`];
  }
  if (type !== "WORKFLOW_FAILED") return [];
  const failure = end as unknown as Failure;
  const message = rootOf(failure);
  if (possible.canFail && possible.fails(message)) return [];
  return [`it failed with "${message}" (${failure.type}), which its program cannot`];
}

/** Those that were ended from outside, and those above them, which cannot end as they would have. */
function disturbedOf(executions: readonly ExecutionSeen[]): ReadonlySet<string> {
  const byId = new Map(executions.map((one) => [one.execution_id, one]));
  const disturbed = new Set<string>();
  for (const one of executions) {
    const end = one.history.events.at(-1);
    const isByEngine =
      end?.type === "WORKFLOW_FAILED" && BY_ENGINE.has((end.value as unknown as Failure).type);
    if (end?.type !== "WORKFLOW_CANCELLED" && !isByEngine) continue;
    let at: ExecutionSeen | undefined = one;
    while (at && !disturbed.has(at.execution_id)) {
      disturbed.add(at.execution_id);
      at = byId.get(at.history.execution.parent_id ?? "");
    }
  }
  return disturbed;
}

/** The message that an author wrote, through whatever calls it has come. */
function rootOf(failure: Failure): string {
  let root = failure;
  while (root.cause) root = root.cause;
  return root.message;
}
