import type { Evidence } from "../evidence.ts";
import { commitsByExecution } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** I24: an execution runs only the code that it was created for. */
export function pinnedVersions(evidence: Evidence): readonly Violation[] {
  const rows = new Map(evidence.executions.map(({ row }) => [row.execution_id, row]));
  const ran = evidence.bodies.flatMap((entry): Violation[] => {
    const { execution_id, version, worker, generation, task_call_id } = entry;
    const row = rows.get(execution_id);
    if (!row || row.version === version) return [];
    const message = `${worker} ran ${task_call_id} under generation ${generation} with code of version ${version}; it is pinned to ${row.version}`;
    return [{ invariant: "I24", execution_id, message }];
  });
  const moved = [...commitsByExecution(evidence)].flatMap(
    ([execution_id, commits]): Violation[] => {
      const first = commits[0]?.row;
      const other = commits.find(
        ({ row }) => row.version !== first?.version || row.module_hash !== first?.module_hash,
      );
      if (!other) return [];
      const message = `it was created for version ${first?.version} and moved to ${other.row.version} at ${other.at}`;
      return [{ invariant: "I24", execution_id, message }];
    },
  );
  return [...ran, ...moved];
}
