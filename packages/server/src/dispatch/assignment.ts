import {
  type Assignment,
  type ExecutionRow,
  formatInstant,
  NOT_ENFORCED,
  suspicionOf,
} from "@engine/contract";

export function assignmentOf(
  row: ExecutionRow,
  rest: Pick<Assignment, "reason" | "module" | "placement" | "history" | "listen"> &
    Partial<Pick<Assignment, "authz" | "execution_token">>,
): Assignment {
  if (row.version === null) throw new Error(`local execution ${row.execution_id} was assigned`);
  return {
    execution_id: row.execution_id,
    generation: row.generation,
    namespace: row.namespace,
    workflow: row.workflow,
    version: row.version,
    name: row.name,
    created_at: formatInstant(row.created_at),
    input: row.input,
    head: row.head,
    seed: row.seed,
    parent_id: row.parent_id,
    transient: row.transient,
    runner: row.requirements?.runner ?? null,
    runner_options:
      row.requirements?.memory_mb === undefined ? null : { memory_mb: row.requirements.memory_mb },
    apart: suspicionOf(row.losses) !== "none",
    authz: NOT_ENFORCED,
    execution_token: null,
    ...rest,
  };
}
