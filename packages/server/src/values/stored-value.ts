import {
  type Encoded,
  EngineError,
  type Json,
  type StoredReference,
  storageOf,
} from "@engine/contract";
import type { ValueStore } from "@engine/store";

/**
 * The value an envelope of the log stands for; undefined when it lies in a storage of the
 * workflow's own, which only its worker can read (EXE-49).
 */
export async function storedValue(
  reference: StoredReference,
  values: ValueStore,
): Promise<Encoded | undefined> {
  const { reference_id, metadata } = reference;
  const storage = storageOf(reference);
  if (storage === "inline") return metadata["value"] ?? null;
  if (storage === "custom") return undefined;
  return parsed(reference_id, await values.load(reference_id));
}

/** A worker may have saved any text. */
function parsed(reference_id: string, text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `no stored value ${reference_id}: what was saved under it is not JSON`;
    throw new EngineError("not_found", message, { details: { resource: "value" }, cause });
  }
}
