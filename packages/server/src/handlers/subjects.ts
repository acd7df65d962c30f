/**
 * What a row's permission leaves open until its handler knows the record: values by placeholder.
 */
import type { ExecutionRow, ScheduleRow } from "@engine/contract";
import type { Seen, Subject } from "@engine/http";
import type { Visible } from "@engine/store";

export function workflowOf({
  namespace,
  workflow,
}: Pick<ExecutionRow | ScheduleRow, "namespace" | "workflow">): Subject {
  return { ns: namespace, wf: workflow };
}

/** Of a list of what belongs to workflows. */
export function visibleWorkflows(seen: readonly Seen[] | undefined): Visible | undefined {
  return seen?.map(({ ns: namespace, wf: workflow }) => ({ namespace, workflow }));
}

/** Of a list of what has a name of its own. */
export function visibleNames(seen: readonly Seen[] | undefined): readonly string[] | undefined {
  return seen?.flatMap(({ name }) => name ?? []);
}
