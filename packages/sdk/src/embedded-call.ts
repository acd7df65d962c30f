/**
 * What `call`s start in engines without a catalog, the local run and the test engine: they know a
 * target by its definition, where a server knows what it read of the source.
 */
import {
  type CallResolution,
  type CallStart,
  callTooDeep,
  type ExecutionRow,
  encode,
  engineFailure,
  type NewExecution,
} from "@engine/contract";
import { refusedCallInput } from "./call-input.ts";
import type { AnyWorkflow } from "./workflow.ts";

export interface EmbeddedCall {
  readonly parent: Pick<ExecutionRow, "execution_id" | "depth" | "hook">;
  readonly task_call_id: string;
  readonly start: CallStart;
}

/** What an engine brings along to resolve calls. */
export interface EmbeddedCalls {
  readonly max_depth: number;
  /** The workflow that is called, or in words why there is none. */
  readonly target: (start: CallStart) => AnyWorkflow | string;
  /** An execution of a workflow as this engine makes them. */
  readonly fresh: (
    target: AnyWorkflow,
    of: Pick<NewExecution, "input" | "name" | "trigger" | "hook" | "parent">,
  ) => NewExecution;
}

/** The child that a call starts, or why it fails by itself (EXE-54, EXE-57). */
export function resolveEmbeddedCall(
  { parent, task_call_id, start }: EmbeddedCall,
  { max_depth, target, fresh }: EmbeddedCalls,
): CallResolution {
  const workflow = target(start);
  if (typeof workflow === "string") {
    const details = { resource: "workflow", workflow: start.workflow };
    const failure = engineFailure("NotFoundError", workflow, { task_call_id, details });
    return { kind: "refused", failure };
  }
  const tooDeep = callTooDeep(parent, { task_call_id, start, max_depth });
  if (tooDeep) return { kind: "refused", failure: tooDeep };
  const input = encode(start.input, "input");
  const refused = refusedCallInput(workflow, { task_call_id, input });
  if (refused) return { kind: "refused", failure: refused };
  const { execution_id, depth, hook } = parent;
  const child = fresh(workflow, {
    input,
    name: start.name ?? null,
    trigger: { kind: "call", id: execution_id },
    hook,
    parent: { execution_id, depth, call_id: task_call_id, detached: start.detach },
  });
  return { kind: "child", fresh: child };
}
