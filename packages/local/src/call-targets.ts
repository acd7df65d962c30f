import {
  type CallResolution,
  type CallResolutions,
  type CallStart,
  callStarts,
  type ExecutionRow,
  encode,
  engineFailure,
  type NewEvent,
} from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import { refusedCallInput } from "@engine/sdk/node";
import type { LocalWorld } from "./local-parts.ts";
import { newLocalExecution } from "./new-local-execution.ts";

type Parent = Pick<ExecutionRow, "execution_id" | "depth">;
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
  return new Map(
    calls.map(({ task_call_id, start }) => [
      task_call_id,
      resolve(parent, task_call_id, start, source),
    ]),
  );
}

function resolve(
  parent: Parent,
  task_call_id: string,
  start: CallStart,
  source: Source,
): CallResolution {
  const target = targetOf(start, source);
  if (typeof target === "string") {
    const details = { resource: "workflow", workflow: start.workflow };
    const failure = engineFailure("NotFoundError", target, { task_call_id, details });
    return { kind: "refused", failure };
  }
  const { execution_id, depth } = parent;
  const { max_depth } = source.limits;
  if (depth >= max_depth) {
    const message = `execution ${execution_id} is nested ${depth} deep; calls go no deeper than max_depth = ${max_depth}`;
    const failure = engineFailure("DepthLimitError", message, { task_call_id });
    return { kind: "refused", failure };
  }
  const input = encode(start.input, "input");
  const refused = refusedCallInput(target, { task_call_id, input });
  if (refused) return { kind: "refused", failure: refused };
  const fresh = newLocalExecution(
    target,
    {
      input,
      name: start.name ?? null,
      trigger: { kind: "call", id: execution_id },
      parent: { execution_id, depth, call_id: task_call_id, detached: start.detach },
    },
    source,
  );
  return { kind: "child", fresh };
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
