import { refreshTokenGrant } from "openid-client";
import type { StoredLogin } from "./credential.ts";
import { type ProviderFetch, providerClient } from "./provider-client.ts";
import { asEngineError, type ProviderFailure, providerFailure } from "./provider-failure.ts";
import { storedLogin } from "./stored-login.ts";

/** What became of a login: it goes on, or the provider has ended it. */
export type Refreshed =
  | { readonly login: StoredLogin }
  | { readonly login: undefined; readonly failure: ProviderFailure };

/**
 * Gets new tokens for a login.
 *
 * @throws EngineError `auth_unavailable` when the provider cannot say whether the login goes on.
 */
export async function refreshLogin(
  login: StoredLogin,
  refresh_token: string,
  { fetch, clock }: { readonly fetch: ProviderFetch; readonly clock: () => number },
): Promise<Refreshed> {
  const client = await providerClient({ ...login, fetch });
  try {
    const tokens = await refreshTokenGrant(client, refresh_token);
    return { login: storedLogin(tokens, login, clock()) };
  } catch (error) {
    const failure = providerFailure(error);
    if (failure.kind === "refused") return { login: undefined, failure };
    throw asEngineError(login.issuer, failure);
  }
}
