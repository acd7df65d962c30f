import type { NewExecution } from "@engine/contract";
import type { StoredVersion } from "@engine/store";

/** What a fresh execution takes over from the version it is pinned to. */
export type VersionPin = Required<
  Pick<
    NewExecution,
    "namespace" | "workflow" | "version" | "module_hash" | "timeout_ms" | "transient"
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
  };
}
