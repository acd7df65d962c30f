/** Values for the placeholders of permissions that a handler fills in, once it knows the record. */
import type { ExecutionRow, ScheduleRow } from "@engine/contract";
import type { Seen, Subject } from "@engine/http";
import type { Visible } from "@engine/store";

export function workflowOf({
  namespace,
  workflow,
}: Pick<ExecutionRow | ScheduleRow, "namespace" | "workflow">): Subject {
  return { ns: namespace, wf: workflow };
}

/** Filters a list of records that belong to workflows. */
export function visibleWorkflows(seen: readonly Seen[] | undefined): Visible | undefined {
  return seen?.map(({ ns: namespace, wf: workflow }) => ({ namespace, workflow }));
}

/** Filters a list of records that have names of their own. */
export function visibleNames(seen: readonly Seen[] | undefined): readonly string[] | undefined {
  return seen?.flatMap(({ name }) => name ?? []);
}
