import type { ExecutionPort } from "@engine/sdk/node";
import type { LocalSettings, LocalWorld } from "./local-parts.ts";

/** What tasks of a local run need beside the log: straight from store and storage. */
export function taskServices(execution_id: string, world: LocalWorld): ExecutionPort["services"] {
  const { store, values, settings, clock } = world;
  return {
    lookUp: (key) => store.cache.find(key, clock()),
    keep: (key, text, ttl_ms) => store.cache.keep(key, text, clock() + ttl_ms),
    saveValue: (text) => values.save(execution_id, text),
    loadValue: ({ reference_id }) => values.load(reference_id),
    secrets: (task, names) => settings.secrets(task, names),
    configs: (task, names) => settings.configs(task, names),
  };
}

/** Without a source of secrets and configs none exist: a task that declares one fails. */
export const NO_SETTINGS: LocalSettings = {
  secrets: async () => ({}),
  configs: async () => ({}),
};
