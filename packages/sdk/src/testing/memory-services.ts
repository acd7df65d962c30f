import { EngineError, type StoredReference } from "@engine/contract";
import type { Host, TaskServices } from "../replay/port.ts";

export interface MemoryServicesOptions extends Pick<Host, "hash"> {
  readonly secrets?: Readonly<Record<string, unknown>>;
  readonly configs?: Readonly<Record<string, unknown>>;
}

/** Cache, values, secrets and configs in memory. */
export function memoryServices(options: MemoryServicesOptions): TaskServices {
  const { hash, secrets = {}, configs = {} } = options;
  const cache = new Map<string, string>();
  const values = new Map<string, string>();
  return {
    lookUp: async (key) => cache.get(JSON.stringify(key)),
    keep: async (key, text) => void cache.set(JSON.stringify(key), text),
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
  };
}

function picked(
  all: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}
