import { EngineError } from "@engine/contract";
import { providerUrlProblem } from "@engine/oidc";
import {
  type Configuration,
  type DeviceAuthorizationResponse,
  genericGrantRequest,
  initiateDeviceAuthorization,
  type TokenEndpointResponse,
} from "openid-client";
import type { StoredLogin } from "./credential.ts";
import type { CredentialsFile } from "./credentials-file.ts";
import type { LockTime } from "./file-lock.ts";
import { type ProviderFetch, providerClient } from "./provider-client.ts";
import { asEngineError, providerFailure } from "./provider-failure.ts";
import { storedLogin } from "./stored-login.ts";

export interface DeviceLoginOptions extends LockTime {
  /** The server that the login is for. */
  readonly server_url: string;
  readonly issuer: string;
  readonly client_id: string;
  /** `openid profile offline_access` when absent or empty. */
  readonly scopes?: readonly string[];
  readonly credentials: CredentialsFile;
  readonly fetch: ProviderFetch;
  /** Where the user reads the address and the code. */
  readonly err: { write(text: string): void };
  /** Shows the user the address, which has the code in it where the provider offers that. */
  readonly openBrowser?: (url: string) => void;
}

const SCOPES = ["openid", "profile", "offline_access"];
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
/** Seconds, where the provider does not say it (RFC 8628, AUTH-61). */
const INTERVAL = 5;
const EXPIRES_IN = 600;

const SHORTEST_WAIT_MS = 1_000;
/** No timer can be set for longer. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/**
 * Logs a user in by the device flow (AUTH-61) and keeps the tokens for the server: shows an address
 * and a code, and asks the provider until the user has entered it there.
 *
 * @throws EngineError `unauthenticated` when the login was denied or the code was not entered in time.
 * @throws EngineError `auth_unavailable` when the provider cannot be reached or offers no such login.
 * @throws EngineError `invalid_input` for an issuer without TLS, or a credentials file that is broken.
 */
export async function deviceLogin(options: DeviceLoginOptions): Promise<StoredLogin> {
  const { server_url, issuer, client_id, credentials, clock } = options;
  // What could not be kept is not asked for.
  await credentials.read(server_url);
  const client = await providerClient({ ...options, fetch: withExpiry(options.fetch) });
  const device = await deviceCode(client, options);
  show(device, options);
  const tokens = await granted(client, device, options);
  const login = storedLogin(tokens, { issuer, client_id, refresh_token: null }, clock());
  await credentials.save(server_url, login);
  if (login.refresh_token === null) options.err.write(endingText(login));
  return login;
}

async function deviceCode(
  client: Configuration,
  { issuer, scopes = [] }: DeviceLoginOptions,
): Promise<DeviceAuthorizationResponse> {
  if (client.serverMetadata().device_authorization_endpoint === undefined) {
    throw new EngineError(
      "auth_unavailable",
      `the OpenID provider ${issuer} offers no login from devices; log in with a key: npx engine auth login --api-key`,
    );
  }
  const scope = (scopes.length > 0 ? scopes : SCOPES).join(" ");
  try {
    const device = await initiateDeviceAuthorization(client, { scope });
    // It goes to a browser, and to a person who trusts it.
    const problem = providerUrlProblem(device.verification_uri);
    if (problem === undefined) return device;
    throw asEngineError(issuer, { kind: "unusable", text: `verification_uri: ${problem}` });
  } catch (error) {
    throw error instanceof EngineError ? error : asEngineError(issuer, providerFailure(error));
  }
}

function show(device: DeviceAuthorizationResponse, options: DeviceLoginOptions): void {
  const { verification_uri, verification_uri_complete, user_code } = device;
  options.err.write(
    `To log in to ${options.server_url}, open\n\n  ${verification_uri}\n\nand enter the code\n\n  ${user_code}\n\n`,
  );
  const isSafe =
    verification_uri_complete !== undefined &&
    providerUrlProblem(verification_uri_complete) === undefined;
  options.openBrowser?.(isSafe ? verification_uri_complete : verification_uri);
}

/** Asks until the user has decided, as often as the provider allows. */
async function granted(
  client: Configuration,
  device: DeviceAuthorizationResponse,
  { issuer, clock, setTimer }: DeviceLoginOptions,
): Promise<TokenEndpointResponse> {
  const { device_code, expires_in } = device;
  const end = clock() + expires_in * 1000;
  let interval = device.interval ?? INTERVAL;
  for (;;) {
    const wait = Math.min(
      Math.max(interval * 1000, SHORTEST_WAIT_MS),
      end - clock(),
      LONGEST_WAIT_MS,
    );
    await new Promise<void>((resolve) => void setTimer(resolve, wait));
    if (clock() >= end) throw expired();
    try {
      return await genericGrantRequest(client, GRANT, { device_code });
    } catch (error) {
      const failure = providerFailure(error);
      if (failure.code === "slow_down") interval += 5;
      // As RFC 8628 wants it for a provider that does not answer.
      else if (failure.kind === "unreachable") interval *= 2;
      else if (failure.code === "access_denied") throw denied();
      else if (failure.code === "expired_token") throw expired();
      else if (failure.code !== "authorization_pending") throw asEngineError(issuer, failure);
    }
  }
}

/** A provider has to say how long its codes hold; for one that does not, it is said here. */
function withExpiry(fetch: ProviderFetch): ProviderFetch {
  return async (url, request) => {
    const response = await fetch(url, request);
    if (!response.ok) return response;
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => null);
    const { device_code, expires_in = null } = (body ?? {}) as Readonly<Record<string, unknown>>;
    const isLacking = device_code !== undefined && expires_in === null;
    return isLacking ? Response.json({ ...(body as object), expires_in: EXPIRES_IN }) : response;
  };
}

function endingText({ expires_at }: StoredLogin): string {
  const when = expires_at === null ? "with its token" : `at ${new Date(expires_at).toISOString()}`;
  return `warning: the provider gave no refresh token: this login ends ${when}\n`;
}

function denied(): EngineError {
  return new EngineError("unauthenticated", "the login was denied");
}

function expired(): EngineError {
  return new EngineError(
    "unauthenticated",
    "the code was not entered in time; run the command again for another",
  );
}
