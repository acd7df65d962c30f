import { type Encoded, EngineError, referenceOf, type StoredReference } from "@engine/contract";
import type { Host, TaskServices } from "../replay/port.ts";

export interface MemoryServicesOptions extends Pick<Host, "hash"> {
  readonly secrets?: Readonly<Record<string, unknown>>;
  readonly configs?: Readonly<Record<string, unknown>>;
  /** Ends the life of cached results; without it they live for good. */
  readonly now?: () => number;
}

export interface MemoryServices extends TaskServices {
  /** A stored value as if the log held it, if it was taken to this memory. */
  inline(encoded: Encoded): Encoded;
}

/** Cache, values, secrets and configs in memory. */
export function memoryServices(options: MemoryServicesOptions): MemoryServices {
  const { hash, secrets = {}, configs = {}, now = () => 0 } = options;
  const cache = new Map<string, { readonly text: string; readonly until: number }>();
  const values = new Map<string, string>();
  return {
    lookUp: async (key) => {
      const kept = cache.get(JSON.stringify(key));
      return kept && now() < kept.until ? kept.text : undefined;
    },
    keep: async (key, text, ttl_ms) => {
      cache.set(JSON.stringify(key), { text, until: now() + ttl_ms });
    },
    saveValue: async (text): Promise<StoredReference> => {
      const reference_id = `memory/${hash(text)}`;
      values.set(reference_id, text);
      return { storage_type: "file", reference_id, metadata: { bytes: text.length } };
    },
    loadValue: async ({ reference_id }) => {
      const text = values.get(reference_id);
      if (text === undefined) throw new EngineError("not_found", `no value ${reference_id}`);
      return text;
    },
    secrets: async (_, names) => picked(secrets, names),
    configs: async (_, names) => picked(configs, names),
    inline: (encoded) => {
      const text = values.get(referenceOf(encoded)?.reference_id ?? "");
      return text === undefined ? encoded : (JSON.parse(text) as Encoded);
    },
  };
}

function picked(
  all: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}
