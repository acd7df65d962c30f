import { createHash } from "node:crypto";
import { EngineError, type StoredReference } from "@engine/contract";

// Neither dots nor slashes: whatever is asked for, a reference names a place below the storage's own.
const EXECUTION_ID = /^[A-Za-z0-9_-]{1,128}$/;
const DIGEST = /^[0-9a-f]{64}$/;

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What the log holds in place of the value. */
export function referenceTo(
  storage_type: string,
  execution_id: string,
  text: string,
): StoredReference {
  assertExecutionId(execution_id);
  return {
    storage_type,
    reference_id: `${execution_id}/${digestOf(text)}`,
    metadata: { bytes: Buffer.byteLength(text) },
  };
}

/** The two parts of a reference the engine made; undefined for anything else. */
export function parseReference(
  reference_id: string,
): { execution_id: string; digest: string } | undefined {
  const [execution_id = "", digest = "", ...more] = reference_id.split("/");
  if (more.length || !EXECUTION_ID.test(execution_id) || !DIGEST.test(digest)) return undefined;
  return { execution_id, digest };
}

/** For code of the engine itself: ids that come from outside are looked up before. */
export function assertExecutionId(execution_id: string): void {
  if (!EXECUTION_ID.test(execution_id)) throw new Error(`not an execution id: ${execution_id}`);
}

/** Gives the text back if it is the one that the reference was made for. */
export function verified(reference_id: string, text: string): string {
  const digest = parseReference(reference_id)?.digest;
  if (digestOf(text) !== digest) throw valueGone(reference_id, "it was changed in the storage");
  return text;
}

export function valueGone(reference_id: string, why: string): EngineError {
  return new EngineError("not_found", `no stored value ${reference_id}: ${why}`, {
    details: { resource: "value" },
  });
}
