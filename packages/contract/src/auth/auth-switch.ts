import type { Config } from "../config/config.ts";

/** Who is let in by the configuration (AUTH-1). */
export interface AuthSwitch {
  readonly isOn: boolean;
  /** Whether keys of service accounts are taken. */
  readonly apiKeys: boolean;
  /** Whether tokens of the OpenID provider are taken. */
  readonly oidc: boolean;
}

type AuthTable = Config["security"]["auth"];

/** Unset, authorization follows its providers: one that is set to true turns it on. */
export function authSwitch({ enabled, api_keys, oidc }: AuthTable): AuthSwitch {
  const isOn = enabled ?? (api_keys.enabled === true || oidc.enabled);
  return {
    isOn,
    apiKeys: isOn && api_keys.enabled !== false,
    oidc: isOn && oidc.enabled,
  };
}

/** Where the switches say the opposite of each other, a line each. */
export function authContradictions(auth: AuthTable): readonly string[] {
  const { isOn, apiKeys, oidc } = authSwitch(auth);
  const table = "engine.security.auth";
  if (isOn) {
    return apiKeys || oidc
      ? []
      : [`${table}: authorization is on, but neither api_keys nor oidc is enabled`];
  }
  return (["api_keys", "oidc"] as const)
    .filter((provider) => auth[provider].enabled === true)
    .map((provider) => `${table}.${provider}.enabled: true contradicts ${table}.enabled = false`);
}
