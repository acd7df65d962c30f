/** Children: how an execution starts one with `call`, and how it learns of its end (EXE-54 to 57). */

import { engineFailure, type Failure } from "../errors/failure.ts";
import type { ExecutionRow } from "../executions/execution-row.ts";
import type { CallResolutions } from "../executions/new-execution.ts";
import type { Event, NewEvent } from "../log/event.ts";
import type { CallStart } from "../log/wait-starts.ts";
import { peek } from "../values/value.ts";
import type { Draft } from "./draft.ts";
import { answerWait } from "./wait-rules.ts";

/** Whether an event of a log begins a wait for a child. */
export function isCallStart(event: Pick<Event, "type" | "kind" | "value">): boolean {
  return event.type === "TASK_STARTED" && event.kind === "call" && event.value !== null;
}

/** The `call`s that events begin; what each of them starts is found out elsewhere. */
export function callStarts(
  events: readonly NewEvent[],
): readonly { readonly task_call_id: string; readonly start: CallStart }[] {
  return events.filter(isCallStart).map((event) => ({
    task_call_id: event.source_id,
    start: peek(event.value) as CallStart,
  }));
}

/** Why a call would nest executions deeper than allowed (EXE-57); undefined when it does not. */
export function callTooDeep(
  caller: Pick<ExecutionRow, "depth">,
  of: { readonly task_call_id: string; readonly start: CallStart; readonly max_depth: number },
): Failure | undefined {
  const { task_call_id, start, max_depth } = of;
  if (caller.depth < max_depth) return undefined;
  const message = `call of ${start.workflow} would nest executions deeper than ${max_depth} levels (executions.max_depth)`;
  return engineFailure("DepthLimitError", message, { task_call_id, details: { max_depth } });
}

/** Creates the children of calls that have just been opened, in the same transaction. */
export function startCalls(
  draft: Draft,
  events: readonly NewEvent[],
  calls: CallResolutions,
): void {
  for (const { task_call_id, start } of callStarts(events)) {
    const wait = draft.row.waits.find((open) => open.task_call_id === task_call_id);
    const resolution = calls.get(task_call_id);
    if (!wait || !resolution) continue;
    if (resolution.kind === "refused") {
      answerWait(draft, wait, { cause: "child", failure: resolution.failure });
      continue;
    }
    const { fresh } = resolution;
    const { execution_id } = fresh;
    draft.effect({ kind: "create", fresh });
    if (start.wait) {
      const waits = draft.row.waits.map((open) =>
        open === wait ? { ...open, execution_id } : open,
      );
      draft.set({ waits });
    } else answerWait(draft, wait, { cause: "child", output: execution_id });
  }
}
