import {
  type DeclaredSchedule,
  EngineError,
  type ScheduleRow,
  type WorkflowRecord,
} from "@engine/contract";
import { normalized } from "@engine/sources";
import { changedSchedule, newRow } from "./operator-rules.ts";

export interface Declaration {
  readonly namespace: string;
  readonly workflow: string;
  readonly declared: DeclaredSchedule | null;
}

export function declaredName({
  namespace,
  workflow,
}: Pick<Declaration, "namespace" | "workflow">): string {
  return `${namespace}.${workflow}`;
}

/**
 * The row of a declared schedule after a registration (EXE-76): created, or updated in place with
 * its counts and an operator's pause.
 *
 * @returns Null to delete it, undefined to leave it as it is.
 * @throws EngineError `schedule_exists` when somebody else's schedule has its name.
 */
export function reconciled(
  row: ScheduleRow | undefined,
  { namespace, workflow, declared }: Declaration,
  { id, now }: { readonly id: string; readonly now: number },
): ScheduleRow | null | undefined {
  if (declared === null) return row?.source === "code" ? null : undefined;
  const fields = { ...declared, spec: normalized(declared.spec) };
  const name = declaredName({ namespace, workflow });
  if (row === undefined) {
    const owned = { name, namespace, workflow, version: null, routing_input: {} };
    return newRow({ ...fields, ...owned, source: "code" }, { id, now });
  }
  const isOther = row.namespace !== namespace || row.workflow !== workflow;
  if (row.source !== "code" || isOther) throw taken(row);
  const patch = changedSchedule(row, fields, now);
  return patch && { ...row, ...patch, revision: row.revision + 1 };
}

/** A schedule of a workflow some of whose versions were deleted (EXE-70). */
export function afterDeletion(
  row: ScheduleRow,
  left: { readonly current: WorkflowRecord | undefined; readonly deleted: readonly number[] },
  now: number,
): ScheduleRow | null | undefined {
  const { namespace, workflow } = row;
  const { current, deleted } = left;
  if (row.source === "code") {
    const declared = current?.schedule ?? null;
    return reconciled(row, { namespace, workflow, declared }, { id: row.id, now });
  }
  const isPinned = row.version !== null;
  const isGone = isPinned ? deleted.includes(row.version) : current === undefined;
  if (!isGone) return undefined;
  return {
    ...row,
    status: "disabled",
    next_run_at: null,
    held: null,
    catch_up_to: null,
    last_error: "workflow_deleted",
    updated_at: now,
    revision: row.revision + 1,
  };
}

function taken({ name, namespace, workflow }: ScheduleRow): EngineError {
  const message = `schedule ${name}, which workflow ${namespace}/${workflow} has, is in the way of the one that is declared; rename or delete it`;
  return new EngineError("schedule_exists", message);
}
