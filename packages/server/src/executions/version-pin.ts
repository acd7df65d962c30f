import type { NewExecution, Requirements, WorkflowRecord } from "@engine/contract";
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
function requirementsOf({ runner, runner_options }: WorkflowRecord): Requirements | null {
  const memory_mb = runner_options?.memory_mb;
  if (runner === null) return null;
  return { runner, ...(memory_mb !== undefined && { memory_mb }) };
}
