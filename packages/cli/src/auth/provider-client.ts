import { EngineError } from "@engine/contract";
import { providerUrlProblem, sameIssuer, wellKnown } from "@engine/oidc";
import {
  allowInsecureRequests,
  type Configuration,
  customFetch,
  discovery,
  None,
} from "openid-client";
import { asEngineError, providerFailure } from "./provider-failure.ts";

/** The network: `fetch` of the process, or a test's. */
export type ProviderFetch = (url: string, request: RequestInit) => Promise<Response>;

export interface ProviderClientOptions {
  readonly issuer: string;
  readonly client_id: string;
  readonly fetch: ProviderFetch;
}

const TIMEOUT_SECONDS = 10;

/**
 * A client of a provider, by what the provider's discovery says; public, since no secret would be one
 * on every user's machine.
 *
 * @throws EngineError `invalid_input` for an issuer that tokens must not be sent to.
 * @throws EngineError `auth_unavailable` when the discovery cannot be had or cannot be meant.
 */
export async function providerClient(options: ProviderClientOptions): Promise<Configuration> {
  const { issuer, client_id, fetch } = options;
  const problem = providerUrlProblem(issuer);
  if (problem) throw new EngineError("invalid_input", `issuer: ${problem}`);
  let client: Configuration;
  try {
    client = await discovery(
      new URL(wellKnown(issuer, "openid-configuration")),
      client_id,
      undefined,
      None(),
      {
        // A body that is undefined is none to `fetch`, whatever its types say.
        [customFetch]: (url, request) => fetch(url, request as RequestInit),
        timeout: TIMEOUT_SECONDS,
        // Which addresses may be without TLS is decided here, one by one.
        execute: [allowInsecureRequests],
      },
    );
  } catch (error) {
    throw asEngineError(issuer, providerFailure(error));
  }
  refuseMisleading(client, issuer);
  return client;
}

function refuseMisleading(client: Configuration, issuer: string): void {
  const { issuer: named, ...metadata } = client.serverMetadata();
  if (!sameIssuer(named, issuer)) {
    throw asEngineError(issuer, { kind: "unusable", text: "it names another issuer" });
  }
  for (const name of ["token_endpoint", "device_authorization_endpoint"] as const) {
    const problem = metadata[name] === undefined ? undefined : providerUrlProblem(metadata[name]);
    if (problem) throw asEngineError(issuer, { kind: "unusable", text: `${name}: ${problem}` });
  }
}
