import { engineFailure, type Failure } from "@engine/contract";
import type { TaskDefinition } from "../calls/call.ts";
import type { TaskServices } from "../port.ts";

/** Names that the workflow declares for all of its tasks. */
export interface Declared {
  readonly secrets: readonly string[];
  readonly configs: readonly string[];
}

/** What an attempt gets beside its input. */
export interface Provisions {
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly configs: Readonly<Record<string, unknown>>;
}

export const NO_PROVISIONS: Provisions = Object.freeze({
  secrets: Object.freeze({}),
  configs: Object.freeze({}),
});

/** Whether a task needs any: the others start without waiting. */
export function needsProvisions({ options }: TaskDefinition, declared: Declared): boolean {
  const all = [declared.secrets, declared.configs, options.secrets, options.configs];
  return all.some((names) => names !== undefined && names.length > 0);
}

/** Fetches what a task and its workflow declare; the failure if something does not exist (EXE-5). */
export async function fetchProvisions(
  { name, options }: TaskDefinition,
  declared: Declared,
  services: TaskServices,
): Promise<{ provisions: Provisions; failure?: undefined } | { failure: Failure }> {
  const secrets = union(declared.secrets, options.secrets);
  const configs = union(declared.configs, options.configs);
  const [given, set] = await Promise.all([
    secrets.length ? services.secrets(name, secrets) : {},
    configs.length ? services.configs(name, configs) : {},
  ]);
  const noSecret = secrets.find((secret) => !Object.hasOwn(given, secret));
  if (noSecret !== undefined) {
    const message = `task ${name} needs secret ${noSecret}, which does not exist`;
    return { failure: engineFailure("SecretMissingError", message) };
  }
  const noConfig = configs.find((config) => !Object.hasOwn(set, config));
  if (noConfig !== undefined) {
    const message = `task ${name} needs config ${noConfig}, which is not set`;
    return { failure: engineFailure("ConfigMissingError", message) };
  }
  const provisions = { secrets: Object.freeze({ ...given }), configs: Object.freeze({ ...set }) };
  return { provisions };
}

function union(all: readonly string[], own: readonly string[] = []): readonly string[] {
  return all.length === 0 ? own : [...new Set([...all, ...own])];
}
