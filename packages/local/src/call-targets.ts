import {
  type CallResolutions,
  type CallStart,
  callStarts,
  type ExecutionRow,
  type NewEvent,
} from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import { type EmbeddedCalls, resolveEmbeddedCall } from "@engine/sdk/node";
import type { LocalWorld } from "./local-parts.ts";
import { newLocalExecution } from "./new-local-execution.ts";

type Parent = Pick<ExecutionRow, "execution_id" | "depth" | "hook">;
type Source = Pick<LocalWorld, "newId" | "newSeed" | "clock" | "limits" | "findWorkflow">;

const NONE: CallResolutions = new Map();

/** What the `call`s among an execution's events start in this process (EXE-54, EXE-57). */
export function resolveCalls(
  parent: Parent,
  events: readonly NewEvent[],
  source: Source,
): CallResolutions {
  const calls = callStarts(events);
  if (calls.length === 0) return NONE;
  const engine: EmbeddedCalls = {
    max_depth: source.limits.max_depth,
    target: (start) => targetOf(start, source),
    fresh: (target, of) => newLocalExecution(target, of, source),
  };
  return new Map(
    calls.map((call) => [call.task_call_id, resolveEmbeddedCall({ parent, ...call }, engine)]),
  );
}

/** The workflow to call, or why there is none. */
function targetOf({ workflow, version }: CallStart, source: Source): AnyWorkflow | string {
  if (version !== undefined) {
    return `version ${version} of workflow ${workflow} is a server's; a local run calls the workflows of its own program, without a version`;
  }
  return (
    source.findWorkflow(workflow) ??
    `no workflow ${workflow} is defined in this program; a local run calls only workflows that the program has imported`
  );
}
