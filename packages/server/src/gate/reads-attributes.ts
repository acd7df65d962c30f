import {
  type Need,
  type Preference,
  type Requirements,
  SERVICE_PREFIX,
  type WorkerSelector,
} from "@engine/contract";

/**
 * Whether a claim is judged by what operators said of a worker's name: metadata, the label of a granted
 * service, or a score over metadata. Only such a claim is guarded by their revision (WMD-2); a score over
 * labels is as fresh as its session (RTE-1).
 */
export function readsAttributes(requirements: Requirements | null): boolean {
  if (!requirements) return false;
  const { affinity = [], routing = [], hidden } = requirements;
  if (affinity.some(needReads) || routing.some(preferenceReads)) return true;
  // What is sealed may read any of them: its guard is one number.
  return hidden !== undefined && (!("plain" in hidden) || readsAttributes(hidden.plain));
}

function needReads(need: Need): boolean {
  if (need.of === "unknown") return false;
  return need.of === "meta" || need.key.startsWith(SERVICE_PREFIX);
}

function preferenceReads(preference: Preference): boolean {
  if (preference.when && isMeta(preference.when.left)) return true;
  if (preference.kind === "sticky") return false;
  return isMeta(preference.kind === "prefer" ? preference.left : preference.selector);
}

function isMeta({ kind }: WorkerSelector): boolean {
  return kind === "meta";
}
