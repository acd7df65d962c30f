import { type Encoded, EngineError, type Json, type StoredReference } from "@engine/contract";
import type { ValueStore } from "@engine/store";

/** Where the engine keeps values itself; every other storage is the workflow's own (EXE-49). */
const OWN_STORAGE = new Set(["file", "s3"]);

/**
 * The value an envelope of the log stands for; undefined when it lies in a storage of the
 * workflow's own, which only its worker can read.
 */
export async function storedValue(
  { storage_type, reference_id, metadata }: StoredReference,
  values: ValueStore,
): Promise<Encoded | undefined> {
  if (storage_type === "inline") return metadata["value"] ?? null;
  if (!OWN_STORAGE.has(storage_type)) return undefined;
  return parsed(reference_id, await values.load(reference_id));
}

/** A worker may have saved anything. */
function parsed(reference_id: string, text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `no stored value ${reference_id}: what was saved under it is not JSON`;
    throw new EngineError("not_found", message, { details: { resource: "value" }, cause });
  }
}
