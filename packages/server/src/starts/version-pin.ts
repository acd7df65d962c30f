import {
  largestRequests,
  type NewExecution,
  type Requirements,
  type WorkflowRecord,
} from "@engine/contract";
import type { StoredVersion } from "@engine/store";

/** What a fresh execution takes over from the version it is pinned to. */
export type VersionPin = Required<
  Pick<
    NewExecution,
    | "namespace"
    | "workflow"
    | "version"
    | "module_hash"
    | "timeout_ms"
    | "transient"
    | "requirements"
  >
>;

export function pinTo({ record, module_hash }: StoredVersion): VersionPin {
  const { namespace, name: workflow, version, timeout_seconds, durability } = record;
  return {
    namespace,
    workflow,
    version,
    module_hash,
    timeout_ms: timeout_seconds === null ? null : timeout_seconds * 1000,
    transient: durability === "transient",
    requirements: requirementsOf(record),
  };
}

/** What the version needs of a worker; taken once, at creation (DSP-2). */
function requirementsOf(record: WorkflowRecord): Requirements | null {
  const { runner, runner_options, requests, tasks } = record;
  const memory_mb = runner_options?.memory_mb;
  const totals = largestRequests(tasks.map((task) => task.requests));
  if (runner === null && requests === null && totals === null) return null;
  return {
    ...(runner !== null && { runner }),
    ...(runner !== null && memory_mb !== undefined && { memory_mb }),
    ...(requests !== null && { requests }),
    ...(totals !== null && { totals }),
  };
}
