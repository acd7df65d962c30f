import { type KeyRing, openText, type Store, secretPlace } from "@engine/store";
import type { LocalSettings } from "./local-parts.ts";
import { neededRing } from "./needed-ring.ts";

/** Secrets and configs of the database that a local run is on; whoever may open that may read them. */
export function storedSettings(
  { secrets, configs }: Pick<Store, "secrets" | "configs">,
  ring: KeyRing | undefined,
): LocalSettings {
  return {
    async secrets(_, names) {
      const rows = await secrets.findAll(names);
      const values = rows.map(({ name, version, key_id, wrapped, body }) => {
        const sealed = { key_id, wrapped, body };
        return [name, JSON.parse(openText(neededRing(ring), secretPlace(name, version), sealed))];
      });
      return Object.fromEntries(values);
    },
    async configs(_, names) {
      const rows = await configs.findAll(names);
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    },
  };
}
