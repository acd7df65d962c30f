/**
 * What code of users sees of the worker's environment (AUTH-55): never a variable of the engine, where
 * its credentials and configuration come from, but for the one that says where scripted models log.
 */
import type { Config } from "@engine/contract";

type EnvironmentRules = Pick<Config["workers"], "env_deny" | "env_allow">;

const SCRIPTED_LOG = "ENGINE_SCRIPTED_LOG";
const EVERY_PROGRAM = /^(PATH|HOME|LANG|LC_.*|TZ|TMPDIR)$/;

/** A thread gets everything that is not held back. */
export function threadEnvironment(
  env: NodeJS.ProcessEnv,
  { env_deny }: EnvironmentRules,
): NodeJS.ProcessEnv {
  return pick(env, (name) => !env_deny.includes(name));
}

/** A process gets nothing but what it is given. */
export function processEnvironment(
  env: NodeJS.ProcessEnv,
  { env_allow, env_deny }: EnvironmentRules,
): NodeJS.ProcessEnv {
  return pick(
    env,
    (name) =>
      (EVERY_PROGRAM.test(name) || name === SCRIPTED_LOG || env_allow.includes(name)) &&
      !env_deny.includes(name),
  );
}

function pick(env: NodeJS.ProcessEnv, isWanted: (name: string) => boolean): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => (name === SCRIPTED_LOG || !/^ENGINE_/i.test(name)) && isWanted(name),
    ),
  );
}
