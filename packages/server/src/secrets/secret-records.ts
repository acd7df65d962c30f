/** Secrets and configuration values as reads return them (SEC-4). */
import {
  type ConfigRecord,
  formatInstant,
  type SecretRecord,
  type ShownConfig,
  type ShownSecret,
} from "@engine/contract";
import type { ConfigInfo, ConfigRow, SecretInfo } from "@engine/store";
import type { OpenedSecret } from "./secrets.ts";

export function toSecret(info: SecretInfo): SecretRecord {
  return { ...info, ...instants(info) };
}

export function toShownSecret(secret: OpenedSecret): ShownSecret {
  return { ...secret, ...instants(secret) };
}

export function toConfig(info: ConfigInfo): ConfigRecord {
  return { ...info, ...instants(info) };
}

export function toShownConfig(config: ConfigRow): ShownConfig {
  return { ...config, ...instants(config) };
}

function instants({ created_at, updated_at }: Pick<ConfigInfo, "created_at" | "updated_at">) {
  return { created_at: formatInstant(created_at), updated_at: formatInstant(updated_at) };
}
