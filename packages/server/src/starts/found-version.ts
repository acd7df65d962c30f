import type { StoredVersion } from "@engine/store";
import type { FoundVersion } from "./start.ts";
import { pinTo } from "./version-pin.ts";

/** A version as a start that found it wants it. */
export function foundVersion(stored: StoredVersion): FoundVersion {
  const { affinity, routing, limits, fairness, input_schema, priority } = stored.record;
  const isPlaced = affinity !== null || routing !== null || limits.length > 0 || fairness !== null;
  return {
    pin: pinTo(stored),
    schema: input_schema,
    declared: isPlaced ? stored.record : undefined,
    priority,
  };
}
