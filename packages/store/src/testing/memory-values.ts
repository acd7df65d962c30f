import { createHash } from "node:crypto";
import { notFound } from "@engine/contract";
import type { ValueStore } from "../values/value-store.ts";

export interface MemoryValues extends ValueStore {
  /** Texts by reference: what a test looks at, changes or takes away. */
  readonly texts: Map<string, string>;
}

/** Stored values without a disk, under the references a file storage would give. */
export function memoryValues(): MemoryValues {
  const texts = new Map<string, string>();
  return {
    texts,
    async save(execution_id, text) {
      const reference_id = `${execution_id}/${createHash("sha256").update(text).digest("hex")}`;
      texts.set(reference_id, text);
      return { storage_type: "file", reference_id, metadata: { bytes: Buffer.byteLength(text) } };
    },
    async load(reference_id) {
      const text = texts.get(reference_id);
      if (text === undefined) throw notFound("value", reference_id);
      return text;
    },
    async deleteAll(execution_id) {
      for (const reference_id of texts.keys()) {
        if (reference_id.startsWith(`${execution_id}/`)) texts.delete(reference_id);
      }
    },
  };
}
