import { EngineError } from "@engine/contract";
import type { StoredLogin } from "./credential.ts";
import type { CredentialsFile, HeldCredentials } from "./credentials-file.ts";
import type { ProviderFetch } from "./provider-client.ts";

export interface AccessTokenOptions {
  readonly credentials: CredentialsFile;
  readonly fetch: ProviderFetch;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** A token that ends under way is of no use. */
const BEFORE_EXPIRY_MS = 30_000;

/**
 * What a user sends to a server: the key that was stored for it, or the access token of a login,
 * which is refreshed shortly before it ends. Undefined for who has not logged in.
 *
 * @throws EngineError `unauthenticated` when the login has ended; it is forgotten.
 * @throws EngineError `auth_unavailable` when the provider cannot be asked to refresh it.
 */
export async function accessToken(
  server_url: string,
  options: AccessTokenOptions,
): Promise<string | undefined> {
  const { credentials, clock } = options;
  const known = await credentials.read(server_url);
  if (known === undefined) return undefined;
  if (known.kind === "api_key") return known.api_key;
  if (serves(known, clock())) return known.access_token;
  return credentials.exclusively((held) => refreshed(server_url, held, options));
}

/** With the lock held: another command may have refreshed, or logged out, while this one waited. */
async function refreshed(
  server_url: string,
  held: HeldCredentials,
  options: AccessTokenOptions,
): Promise<string | undefined> {
  const login = await held.read(server_url);
  if (login === undefined) return undefined;
  if (login.kind === "api_key") return login.api_key;
  if (serves(login, options.clock())) return login.access_token;
  if (login.refresh_token === null) return ended(server_url, held, "it has expired");
  // Loaded here only: most commands send a token that still serves.
  const { refreshLogin } = await import("./refresh-login.ts");
  const outcome = await refreshLogin(login, login.refresh_token, options).catch((error) => {
    if (isBefore(login, options.clock(), 0)) return { login };
    throw error;
  });
  if (outcome.login === undefined) return ended(server_url, held, outcome.failure.text);
  // A refresh token that was replaced works no more: the new one is kept before anything else.
  if (outcome.login !== login) await held.save(server_url, outcome.login);
  return outcome.login.access_token;
}

function serves(login: StoredLogin, now: number): boolean {
  return isBefore(login, now, login.refresh_token === null ? 0 : BEFORE_EXPIRY_MS);
}

function isBefore({ expires_at }: StoredLogin, now: number, margin: number): boolean {
  return expires_at === null || now < expires_at - margin;
}

async function ended(server_url: string, held: HeldCredentials, why: string): Promise<never> {
  await held.remove(server_url);
  throw new EngineError(
    "unauthenticated",
    `the login for ${server_url} has ended (${why}); log in again: npx engine auth login`,
  );
}
