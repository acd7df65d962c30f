import { createHash } from "node:crypto";
import type { ExtractedWorkflow } from "@engine/contract";

/** What makes two versions of a workflow the same: the bundle and what was read of the source (EXE-67). */
export function contentHash(bundleHash: string, record: ExtractedWorkflow): string {
  const stated = Object.entries(record).filter(([key, value]) => !isLaterDefault(key, value));
  return sha256(`${bundleHash}\n${JSON.stringify(Object.fromEntries(stated), sortKeys)}`);
}

/**
 * Options that releases came to know later, as they are where a source says nothing: they do not count,
 * or a new release would make a new version of every file that is registered again.
 */
const LATER: Partial<ExtractedWorkflow> = {
  affinity: null,
  routing: null,
  limits: [],
  priority: null,
  fairness: null,
  hooks: [],
};

function isLaterDefault(key: string, value: unknown): boolean {
  if (!Object.hasOwn(LATER, key)) return false;
  return value === null || (Array.isArray(value) && value.length === 0);
}

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** Equal metadata written in another order is equal. */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
