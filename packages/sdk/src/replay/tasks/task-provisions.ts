import { engineFailure, type Failure } from "@engine/contract";
import type { TaskDefinition } from "../calls/call.ts";
import type { TaskServices } from "../port.ts";

/** Names that the workflow declares for all of its tasks, or a task's own with them. */
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

export function declaredFor({ options }: TaskDefinition, all: Declared): Declared {
  return {
    secrets: union(all.secrets, options.secrets),
    configs: union(all.configs, options.configs),
  };
}

/** Fetches what a task is given; the failure if something does not exist (EXE-5). */
export async function fetchProvisions(
  task: string,
  { secrets, configs }: Declared,
  services: TaskServices,
): Promise<{ provisions: Provisions; failure?: undefined } | { failure: Failure }> {
  const [given, set] = await Promise.all([
    secrets.length ? services.secrets(task, secrets) : {},
    configs.length ? services.configs(task, configs) : {},
  ]);
  const noSecret = secrets.find((secret) => !Object.hasOwn(given, secret));
  if (noSecret !== undefined) {
    const message = `task ${task} needs secret ${noSecret}, which does not exist`;
    return { failure: engineFailure("SecretMissingError", message) };
  }
  const noConfig = configs.find((config) => !Object.hasOwn(set, config));
  if (noConfig !== undefined) {
    const message = `task ${task} needs config ${noConfig}, which is not set`;
    return { failure: engineFailure("ConfigMissingError", message) };
  }
  const provisions = { secrets: Object.freeze({ ...given }), configs: Object.freeze({ ...set }) };
  return { provisions };
}

function union(all: readonly string[], own: readonly string[] = []): readonly string[] {
  return all.length === 0 ? own : [...new Set([...all, ...own])];
}
