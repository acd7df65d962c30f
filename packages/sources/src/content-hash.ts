import { createHash } from "node:crypto";
import type { ExtractedWorkflow } from "@engine/contract";

/** What makes two versions of a workflow the same: the bundle and what was read of the source (EXE-67). */
export function contentHash(bundleHash: string, record: ExtractedWorkflow): string {
  return sha256(`${bundleHash}\n${JSON.stringify(record, sortKeys)}`);
}

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** Equal metadata written in another order is equal. */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
