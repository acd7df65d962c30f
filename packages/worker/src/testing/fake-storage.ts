import { createHash } from "node:crypto";
import { notFound, type OwnCacheKey, type StoredReference } from "@engine/contract";

/** What a server keeps for tasks beside the logs, in memory. */
export class FakeStorage {
  /** Texts kept outside logs, by reference. */
  readonly values: Map<string, string> = new Map();
  /** Texts of cached outputs, by task, version and digest; for ever. */
  readonly cache: Map<string, string> = new Map();

  save(execution_id: string, text: string): StoredReference {
    const reference_id = `${execution_id}/${createHash("sha256").update(text).digest("hex")}`;
    this.values.set(reference_id, text);
    return { storage_type: "file", reference_id, metadata: { bytes: Buffer.byteLength(text) } };
  }

  load(reference_id: string): string {
    const text = this.values.get(reference_id);
    if (text === undefined) throw notFound("value", reference_id);
    return text;
  }

  lookUp(key: OwnCacheKey): string | null {
    return this.cache.get(cacheKey(key)) ?? null;
  }

  keep(key: OwnCacheKey, text: string): void {
    this.cache.set(cacheKey(key), text);
  }
}

function cacheKey({ task, version, digest }: OwnCacheKey): string {
  return `${task}/${version}/${digest}`;
}
