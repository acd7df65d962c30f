/** Values for the placeholders of permissions that a handler fills in, once it knows the record. */
import type { ExecutionRow, ScheduleRow, Seen } from "@engine/contract";
import type { Caller, Subject } from "@engine/http";
import type { Visible } from "@engine/store";

export function workflowOf({
  namespace,
  workflow,
}: Pick<ExecutionRow | ScheduleRow, "namespace" | "workflow">): Subject {
  return { ns: namespace, wf: workflow };
}

/** Whether an execution is the caller's own: then there is nothing to guard. */
export function ownership(
  { started_by, run_as }: Pick<ExecutionRow, "started_by" | "run_as">,
  { principal }: Caller,
): Subject {
  const isOwn = principal !== null && (principal === started_by || principal === run_as);
  return { own: isOwn ? null : "another's" };
}

/** Filters a list of records that belong to workflows. */
export function visibleWorkflows(seen: readonly Seen[] | undefined): Visible | undefined {
  return seen?.map(({ ns: namespace, wf: workflow }) => ({ namespace, workflow }));
}

/** Whether a list shows only what its caller may read, found something or not (AUTH-33). */
export function isFiltered(...filters: readonly (readonly unknown[] | undefined)[]): boolean {
  return filters.some((filter) => filter !== undefined);
}

/** Filters a list of records that have names of their own. */
export function visibleNames(seen: readonly Seen[] | undefined): readonly string[] | undefined {
  // One without a name is seen by any name: of another field the caller sees a part.
  if (seen?.some(({ name }) => name === undefined)) return undefined;
  return seen?.flatMap(({ name }) => name ?? []);
}
